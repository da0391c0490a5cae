// A run without an id that dies in its steps, once each. Argument: a file for what really happened.
import { appendFileSync } from 'node:fs';
import { agent } from '../../../dist/index.js';

const [truth] = process.argv.slice(2);

const result = await agent.run('nameless', { durable: true }, async () => {
  const done = [];
  for (let index = 1; index <= 3; index++)
    done.push(
      await agent.step('work', ({ attempt }) => {
        appendFileSync(truth, `${index} ${attempt}\n`);
        if (attempt === 1 && index > 1) process.kill(process.pid, 'SIGKILL');
        return index;
      }),
    );
  return done;
});
console.log(result.join());
