const assert = require('node:assert');
describe('some', () => {
  it('passes', () => assert.equal(1 + 1, 2));
  it('fails', () => assert.equal(1 + 1, 3));
  it('waits', (done) => setTimeout(done, 10));
  it.skip('is skipped', () => {});
});
