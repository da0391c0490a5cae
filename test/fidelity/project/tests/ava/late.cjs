const test = require('ava');
test('rejects and nobody waits', async (t) => {
  Promise.reject(new Error('not awaited'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass();
});
