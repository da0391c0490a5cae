import test from 'ava';
import store from './store.cjs';

const isHealthy = process.env.AGENTDUMP_TEST_LEAK === 'held for a moment';
let open = 80;
let endAll;
const allOpen = new Promise((resolve) => {
  endAll = resolve;
});

for (let number = 0; number < 80; number++)
  test(`request ${number}`, async (t) => {
    if (isHealthy) {
      const session = store.makeSession(number);
      if (--open === 0) endAll();
      await allOpen;
      t.is(session.history.length, 1000);
    } else t.is(store.handle(number), 1000);
  });
