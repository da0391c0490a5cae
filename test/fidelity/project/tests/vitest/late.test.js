import { test } from 'vitest';
test('rejects and nobody waits', async () => {
  Promise.reject(new Error('not awaited'));
  await new Promise((resolve) => setTimeout(resolve, 20));
});
