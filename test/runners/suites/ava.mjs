import test from 'ava';
import { dies, passes } from './deaths.mjs';

test.serial.skip('is skipped', async (t) => t.pass());
test.todo('is skipped until it is written');
test.serial.failing('fails as expected', (t) => t.fail());
test.serial('finds hotels', async (t) => {
  await passes();
  t.pass();
});
test.serial('books the cheapest', async (t) => {
  await dies();
  t.pass();
});
