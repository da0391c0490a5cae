// Twenty steps that wait for 5 to 24 ms; says of each how many microseconds lie between its return and its record's write.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { writeSync } = fs;
let writtenAt = 0n;
fs.writeSync = (...words) => {
  writtenAt = process.hrtime.bigint();
  return writeSync(...words);
};
// The journal takes the function when it is loaded.
const { agent } = await import('../../../dist/index.js');

const windows = [];
await agent.run('window', { id: 'window', durable: true }, async () => {
  for (let index = 1; index <= 20; index++) {
    let returnedAt;
    await agent.step('work', async () => {
      await sleep(5 + ((index * 7) % 20));
      returnedAt = process.hrtime.bigint();
      return { index, note: `result of ${index}`, big: BigInt(index) };
    });
    windows.push(Number(writtenAt - returnedAt) / 1000);
  }
});
console.log(JSON.stringify(windows));
