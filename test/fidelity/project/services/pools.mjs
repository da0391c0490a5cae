import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Piscina from 'piscina';
import Tinypool from 'tinypool';
import workerpool from 'workerpool';
const kind = process.argv[2];
writeFileSync('task.cjs', 'module.exports = ({ a, b }) => { if (a < 0) throw new RangeError("negative"); if (a > 99) process.exit(9); return a + b; };');
const filename = resolve('task.cjs');
const say = (what) => what.then((value) => console.log(value), (error) => console.log(error.name, error.message));
if (kind === 'piscina') {
  const pool = new Piscina({ filename, maxThreads: 2 });
  await say(pool.run({ a: 1, b: 2 }));
  await say(pool.run({ a: -1, b: 2 }));
  await say(pool.run({ a: 100, b: 2 }));
  await pool.destroy();
} else if (kind === 'tinypool') {
  const pool = new Tinypool({ filename, maxThreads: 1, runtime: process.argv[3] ?? 'worker_threads' });
  await say(pool.run({ a: 1, b: 2 }));
  await say(pool.run({ a: -1, b: 2 }));
  await pool.destroy();
} else {
  const pool = workerpool.pool({ workerType: process.argv[3] ?? 'thread' });
  await say(Promise.resolve(pool.exec((a, b) => a + b, [1, 2])));
  await say(Promise.resolve(pool.exec(() => process.exit(5), [])));
  await pool.terminate();
}
