describe('weather', () => {
  it('knows Oslo', async () => (await import('./deaths.mjs')).passes());
});
