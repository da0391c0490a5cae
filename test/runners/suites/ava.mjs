import test from 'ava';
import { dies, passes } from './deaths.mjs';

test.serial('finds hotels', async (t) => {
  await passes();
  t.pass();
});
test.serial('books the cheapest', async (t) => {
  await dies();
  t.pass();
});
