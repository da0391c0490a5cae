// A worker of `job` for the bench of many runs. Arguments: the store's place, and `hang` to stand still in the second step.
import { openStore, startWorker } from '../../../dist/durable/index.js';
import { agent } from '../../../dist/index.js';

const [place, word] = process.argv.slice(2);
const store = await openStore(place);
startWorker({
  store,
  options: { notify: () => {} },
  programs: {
    job: async ({ attempt }) => {
      console.log(`begun ${attempt}`);
      await agent.step('first', () => 1);
      if (word === 'hang') await agent.step('second', () => new Promise(() => setInterval(() => {}, 1000)));
      await agent.step('second', () => 2);
      console.log(`ended ${attempt}`);
    },
  },
});
console.log('up');
