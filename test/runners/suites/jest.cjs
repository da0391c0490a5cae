describe('booking', () => {
  it('finds hotels', async () => (await import('./deaths.mjs')).passes());
  it('books the cheapest', async () => (await import('./deaths.mjs')).dies(), 600_000);
});
