// A worker on PostgreSQL: takes up runs of `job` whose worker has died. Arguments: the URL, `begin` to begin one itself.

import { PostgresStore, startWorker } from '../../../dist/durable/index.js';
import { agent } from '../../../dist/index.js';

const [url, word] = process.argv.slice(2);
const store = await PostgresStore.connect(url);

async function job({ attempt }) {
  const first = await agent.step('first', () => `first of ${process.pid}`);
  await agent.step('second', async () => {
    if (attempt === 1) {
      console.log('at work');
      await new Promise(() => setInterval(() => {}, 1000));
    }
  });
  return [first, attempt];
}

if (word === 'begin') await agent.run('job', { id: 'j1', durable: true, store }, job);
else
  startWorker({
    store,
    programs: { job },
    everyMs: 50,
    onEnd: async (id, error) => {
      console.log(`${id} ${error ?? 'ended'}`);
    },
  });
