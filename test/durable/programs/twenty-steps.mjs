// Twenty steps of 5 to 24 ms, which is short for a model or a tool; what really happened goes to a file of its own.
// Arguments: that file, the dump folder. AGENTDUMP_STEP_MS: how long the longest step takes instead.
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { agent } from '../../../dist/index.js';

const [truth, dir] = process.argv.slice(2);
const longest = Number(process.env['AGENTDUMP_STEP_MS'] ?? 24);
const shortest = Math.min(5, Math.floor(longest / 5));
const fd = openSync(truth, 'a');
const tell = (what) => writeSync(fd, `${what}\n`);

const result = await agent.run('twenty', { id: 'trial', durable: true, dir }, async () => {
  process.stdout.write('up');
  const done = [];
  for (let index = 1; index <= 20; index++)
    done.push(
      await agent.step('work', async () => {
        tell(`begin ${index}`);
        await sleep(shortest + ((index * 7) % (longest - shortest + 1)));
        tell(`return ${index}`);
        return { index, note: `result of ${index}`, big: BigInt(index) };
      }),
    );
  return done.map(({ index, big }) => index + Number(big));
});
tell(`result ${result.join()}`);
closeSync(fd);
