/**
 * What `agentdump run` adds to a program that does nothing: time compared with the same program started by a bare Node parent
 * (the minimum for any supervisor written in JavaScript), and the supervisor's own memory. `npm run bench:run`; needs dist.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const agentdump = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
const { execPath: node } = process;
const rounds = 25;
const nothing = ['-e', '0'];
const bareParent = 'require("child_process").spawn(process.execPath, ["-e", "0"], { stdio: "inherit" })';
/** Node 20 reads the certificates of NODE_EXTRA_CA_CERTS at each start, which takes longer than the rest of the start. */
const { PATH = '', HOME = '' } = process.env;
const plain: NodeJS.ProcessEnv = { PATH, HOME };

function timeOf(words: string[], environment: NodeJS.ProcessEnv = {}): number {
  const start = process.hrtime.bigint();
  const { status } = spawnSync(node, words, { stdio: 'ignore', env: { ...plain, ...environment } });
  if (status !== 0) throw new Error(`exit code ${status}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}
/** Processor time of all children so far, in milliseconds: fields 16 and 17 of the stat file, in units of 10 ms. */
function usedByChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').pop()?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
const median = (times: number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;

const run = [agentdump, 'run', '--dir', dir, '--', node];
const alone: number[] = [];
const supervised: number[] = [];
const withoutPreload: number[] = [];
const floor: number[] = [];
const used = { supervised: 0, floor: 0 };
function timeAndCount(of: keyof typeof used, words: string[], environment: NodeJS.ProcessEnv = {}): number {
  const before = usedByChildren();
  const time = timeOf(words, environment);
  used[of] += usedByChildren() - before;
  return time;
}
for (let round = 0; round < rounds; round++) {
  alone.push(timeOf(nothing));
  supervised.push(timeOf([...run, ...nothing]));
  withoutPreload.push(timeAndCount('supervised', [...run, ...nothing], { AGENTDUMP: 'off' }));
  floor.push(timeAndCount('floor', ['-e', bareParent]));
}
/** Each compared with the program alone in the same round. */
const added = (times: number[]) =>
  `${median(times.map((time, i) => time - (alone[i] ?? Number.NaN))).toFixed(1)} ms`;
console.log(`${process.version}: alone ${median(alone).toFixed(1)} ms, load ${loadavg()[0]?.toFixed(1)}`);
console.log(`added by run: ${added(supervised)}; with the preload off: ${added(withoutPreload)}`);
console.log(`added by a bare Node parent: ${added(floor)}`);
const each = (total: number) => `${(total / rounds).toFixed(0)} ms`;
console.log(
  `processor time in all, preload off: ${each(used.supervised)}; bare Node parent: ${each(used.floor)}`,
);
const ratios = withoutPreload.map((time, i) => time / (floor[i] ?? Number.NaN));
console.log(`time beside that of a bare Node parent, paired: ${median(ratios).toFixed(2)} times`);

const status = 'require("fs").readFileSync("/proc/" + process.ppid + "/smaps_rollup", "utf8")';
const reporter = ['-p', `setTimeout(() => console.log(${status}), 300); ""`];
/** Memory of the process that started the program, once that has run for a while. */
function memoryOf(words: string[]): string {
  const { stdout } = spawnSync(node, words, { encoding: 'utf8', env: plain });
  const size = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(stdout)?.[1]) / 1024);
  const own = size('Private_Clean') + size('Private_Dirty');
  return `${size('Rss')} MB resident, ${size('Pss')} MB its share, ${own} MB its own`;
}
console.log(`supervisor's memory: ${memoryOf([...run, ...reporter])}`);
const bareReporter = bareParent.replace('["-e", "0"]', JSON.stringify(reporter));
console.log(`a bare Node parent's: ${memoryOf(['-e', bareReporter])}`);
rmSync(dir, { recursive: true, force: true });
