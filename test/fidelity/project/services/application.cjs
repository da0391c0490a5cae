console.log('began', process.argv[2] ?? '');
process.on('SIGINT', () => {
  console.log('asked to end');
  process.exit(0);
});
setInterval(() => {}, 1000);
