console.log('began');
setTimeout(() => {
  throw new Error('fell over');
}, 100);
