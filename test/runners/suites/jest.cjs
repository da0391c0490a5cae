describe('skipped', () => {
  it.skip('is skipped', () => {});
  it.todo('is skipped until it is written');
  it.failing('fails as expected', () => {
    throw new Error('expected');
  });
});
describe('booking', () => {
  it('finds hotels', async () => (await import('./deaths.mjs')).passes());
  it('books the cheapest', async () => (await import('./deaths.mjs')).dies(), 600_000);
});
