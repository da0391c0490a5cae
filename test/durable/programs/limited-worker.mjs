// A worker of queues with limits, which is killed: it writes to a file what is at work, in the order in which it happens.
// Arguments: the store's place, the file, the limits as JSON.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, startWorker } from '../../../dist/durable/index.js';
import { agent } from '../../../dist/index.js';

const [place, truth, queues] = process.argv.slice(2);
const tell = (run, what) => appendFileSync(truth, `${JSON.stringify({ pid: process.pid, run, what })}\n`);

startWorker({
  store: await openStore(place),
  everyMs: 50,
  options: { notify: () => {}, maxResumes: 1_000_000 },
  queues: JSON.parse(queues),
  programs: {
    job: async ({ id: run }) => {
      tell(run, 'begin');
      for (const name of ['one', 'two', 'three'])
        await agent.step(name, async ({ attempt, inDoubt }) => {
          tell(run, `${name} ${attempt}${inDoubt ? ' in doubt' : ''}`);
          for (let turn = 0; turn < 4; turn++) {
            await sleep(1 + Math.random() * 8);
            tell(run, 'at work');
          }
        });
      tell(run, 'end');
    },
  },
});
console.log('up');
