import { dies, passes } from './deaths.mjs';

describe('booking', function () {
  this.timeout(0);
  it('finds hotels', passes);
  it('books the cheapest', dies);
});
