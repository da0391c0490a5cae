// A durable run whose values hold a secret, sealed by a key; dies of an exception while the preload watches.
import { agent } from '../../../dist/index.js';

const secret = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6'].join('_');

await agent.run('login', { id: 'k1', durable: true, config: { model: 'm' } }, async () => {
  const token = await agent.step('get a token', () => ({ token: secret }));
  await agent.tool('use', { token: token.token }, () => ({ echoed: token.token }));
  await agent.checkpoint('before', { conversation: [{ role: 'user', content: `use ${token.token}` }] });
  if (process.env.DIE) throw new Error('bug');
  console.log(token.token === secret ? 'kept' : 'lost');
});
