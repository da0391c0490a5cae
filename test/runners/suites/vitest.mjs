import { describe, it } from 'vitest';
import { dies, passes } from './deaths.mjs';

describe('booking', () => {
  it('finds hotels', passes);
  it('books the cheapest', dies, 600_000);
});
