test('an error without a home', (done) => {
  setTimeout(() => {
    throw new Error('late');
  }, 5);
  setTimeout(done, 50);
});
