import { describe, it } from 'node:test';
import { dies, passes } from './deaths.mjs';

describe('booking', () => {
  it('finds hotels', passes);
  it('books the cheapest', dies);
});
