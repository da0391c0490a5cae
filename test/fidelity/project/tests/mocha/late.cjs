it('leaves a timer that throws', () => {
  setTimeout(() => {
    throw new Error('late');
  }, 5);
});
it('is running then', (done) => setTimeout(done, 50));
