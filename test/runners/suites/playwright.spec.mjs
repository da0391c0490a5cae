import { test } from '@playwright/test';
import { dies, passes } from './deaths.mjs';

test.describe('skipped', () => {
  test.beforeEach(() => test.skip(test.info().title.includes('by its hook')));
  test.skip('is skipped', passes);
  test.fixme('is skipped until it is written', passes);
  test('fails as expected', () => {
    test.fail();
    throw new Error('expected');
  });
  test('is skipped by its hook', () => {});
  test('is skipped by itself', () => test.skip());
});
test.describe('booking', () => {
  test.setTimeout(0);
  test('finds hotels', passes);
  test('books the cheapest', dies);
});
