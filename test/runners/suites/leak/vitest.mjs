import { expect, test } from 'vitest';
import store from './store.cjs';

for (let number = 0; number < 80; number++)
  test(`request ${number}`, () => expect(store.handle(number)).toBe(1000));
