it('rejects and nobody waits', (done) => {
  Promise.reject(new Error('not awaited'));
  setTimeout(done, 20);
});
