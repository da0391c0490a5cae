import { dies, passes } from './deaths.mjs';

describe('skipped', () => {
  beforeEach(function () {
    if (this.currentTest.title.includes('by its hook')) this.skip();
  });
  it.skip('is skipped', passes);
  it('is skipped until it is written');
  it('is skipped by its hook', () => {});
  it('is skipped by itself', function () {
    this.skip();
  });
});
describe('booking', function () {
  this.timeout(0);
  it('finds hotels', passes);
  it('books the cheapest', dies);
});
