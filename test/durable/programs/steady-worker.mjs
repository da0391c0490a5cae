// A worker on PostgreSQL whose steps have effects that the world outside sees. Arguments: the URL, a file for what really happened,
// milliseconds of a lease.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresStore, startWorker } from '../../../dist/durable/index.js';
import { agent } from '../../../dist/index.js';

const [url, truth, leaseMs] = process.argv.slice(2);
const store = await PostgresStore.connect(url, { leaseMs: Number(leaseMs), patienceMs: 60_000 });
startWorker({
  store,
  everyMs: 100,
  options: { notify: () => {}, maxResumes: 1_000_000 },
  programs: {
    job: async ({ id: run }) => {
      for (const name of ['one', 'two', 'three', 'four'])
        await agent.step(name, async ({ attempt, inDoubt }) => {
          appendFileSync(truth, `${JSON.stringify({ run, name, attempt, inDoubt })}\n`);
          await sleep(5 + Math.random() * 40);
        });
    },
  },
});
console.log('up');
