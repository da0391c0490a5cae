/**
 * Damaged cores in bulk: a real core cut off at every 64 KB that holds something, random flips in it, another machine's header, lying counts,
 * an executable of another build. Each gives a clear error or a partial account; anything else ends this with an error.
 * Prints how many of which, the longest time, the most memory of one core beyond what the process had, and of the process.
 *   npm run fuzz:core [flips]
 */
import {
  copyFileSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { accountForCore, type CoreOptions } from '../../src/analysis/core/core-account.ts';
import { AgentdumpError } from '../../src/errors.ts';
import { renderCore } from '../../src/report/core.ts';
import { makeCore, noCores, nodes, victims } from '../support/core-victims.ts';
import { SeededRandom } from '../support/seeded-random.ts';

if (noCores) {
  console.log(`skipped: ${noCores}`);
  process.exit(0);
}
const flips = Number(process.argv[2] ?? 100);
const step = 64 << 10;
const [, node = nodes[0]] = nodes;
const death = makeCore(node?.path ?? '', [join(victims, 'deaths.cjs'), 'read-null']);
const { size } = statSync(death.core);
const copy = join(dirname(death.core), 'damaged');
let longestMs = 0;
let largestKb = 0;
let mostKb = 0;

const peakKb = () => Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0);
/** From here on the peak is that of what follows; proc(5). */
const forgetPeak = () => writeFileSync('/proc/self/clear_refs', '5');

async function read(path: string, options: CoreOptions = {}): Promise<string> {
  const start = performance.now();
  forgetPeak();
  const before = peakKb();
  try {
    const account = await accountForCore(path, options);
    renderCore(account);
    return account.gaps.length > 0 ? 'partial account' : 'whole account';
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    return error.code;
  } finally {
    longestMs = Math.max(longestMs, performance.now() - start);
    largestKb = Math.max(largestKb, peakKb() - before);
    mostKb = Math.max(mostKb, peakKb());
  }
}

async function report(what: string, outcomes: AsyncIterable<string>): Promise<void> {
  const counts = new Map<string, number>();
  longestMs = 0;
  largestKb = 0;
  for await (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const told = [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
  const megabytes = (kb: number) => `${(kb / 1024).toFixed(0)} MB`;
  console.log(
    `${what}: ${told}; longest ${longestMs.toFixed(0)} ms, most memory for one ${megabytes(largestKb)}, ` +
      `of the process ${megabytes(mostKb)}`,
  );
}

async function* cutOff() {
  copyFileSync(death.core, copy);
  const whole = openSync(death.core, 'r');
  const before = Buffer.alloc(step);
  for (let at = Math.floor(size / step) * step; at >= 0; at -= step) {
    // In the holes of a sparse core every cut is like the one before.
    if (at >= step && readSync(whole, before, 0, step, at - step) === step && before.every((b) => b === 0))
      continue;
    truncateSync(copy, at);
    yield await read(copy);
  }
}

async function* flipped() {
  copyFileSync(death.core, copy);
  const file = openSync(copy, 'r+');
  const random = new SeededRandom(11);
  const below = (n: number) => random.below(n);
  for (let round = 0; round < flips; round++) {
    const undo: [number, Buffer][] = [];
    for (let i = below(300); i >= 0; i--) {
      const at = below(4) ? below(size) : below(60_000);
      const old = Buffer.alloc(1);
      readSync(file, old, 0, 1, at);
      undo.push([at, old]);
      writeSync(file, Buffer.from([below(256)]), 0, 1, at);
    }
    yield await read(copy);
    for (const [at, old] of undo.reverse()) writeSync(file, old, 0, 1, at);
  }
}

/** Offsets in the ELF header: machine, count of segments, size of an entry. */
async function* headers() {
  for (const [at, bytes] of [
    [18, [183, 0]],
    [56, [0xff, 0xff]],
    [56, [0xfe, 0xff]],
    [54, [1, 0]],
    [32, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    [4, [1]],
    [5, [2]],
  ] as const) {
    copyFileSync(death.core, copy);
    writeSync(openSync(copy, 'r+'), Buffer.from(bytes), 0, bytes.length, at);
    yield await read(copy);
  }
}

async function* otherBuilds() {
  for (const { path } of nodes) yield await read(death.core, { executable: path });
  yield await read(death.core, { executable: '/bin/sh' });
}

await report(`cut off at every 64 KB of ${(size / 2 ** 20).toFixed(0)} MB`, cutOff());
await report(`${flips} times up to 300 flipped bytes`, flipped());
await report('lying headers', headers());
await report('executables, one of them the right build', otherBuilds());
death.remove();
