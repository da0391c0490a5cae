import { test } from '@playwright/test';
import { dies, passes } from './deaths.mjs';

test.describe('booking', () => {
  test.setTimeout(0);
  test('finds hotels', passes);
  test('books the cheapest', dies);
});
