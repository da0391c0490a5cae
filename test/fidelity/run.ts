/**
 * `npm run fidelity`: runs each program of the corpus twice without and once with the preload, and prints the differences.
 *
 * --nodes 20,24      only these major versions; default: all four
 * --rooms tools      only these rooms
 * --only TEXT        only programs whose name contains the text
 * --sample N         a sample of this size, chosen by --seed (a commit's hash in CI)
 * --beside N         how many run in parallel; default: 2
 * --report FILE      writes the figures and differences as JSON
 *
 * Exit code 1 if there is a difference that `exceptions.ts` does not know.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Comparison, compareRuns, type Difference, type Level, levels } from './compare.ts';
import { type Exception, findException } from './exceptions.ts';
import type { Program, Room } from './program.ts';
import { type ProgramRun, roomPath, runProgram } from './run-program.ts';
import { listServices } from './services.ts';
import { listSuites } from './suites.ts';
import { listTools } from './tools.ts';

const rooms: readonly Room[] = ['suites', 'tools', 'services'];
const majors = [20, 22, 24, 26] as const;
/** How many further runs of both kinds are made before a difference is reported. */
const moreRounds = 2;

const { values: options } = parseArgs({
  options: {
    nodes: { type: 'string', default: majors.join(',') },
    rooms: { type: 'string', default: rooms.join(',') },
    only: { type: 'string', default: '' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '' },
    beside: { type: 'string', default: '2' },
    report: { type: 'string' },
  },
});

interface Result {
  program: string;
  package: string;
  room: Room;
  node: number;
  /** The reason why it was not compared. */
  unusable?: string;
  levels?: Comparison['levels'];
  differences: Difference[];
  /** Set if all differences are known. */
  excepted?: Exception | undefined;
}

function listPrograms(): Program[] {
  const wanted = rooms.filter((room) => options.rooms.split(',').includes(room));
  for (const room of wanted) install(room);
  const lists = { suites: () => listSuites(roomPath('suites')), tools: listTools, services: listServices };
  const all = wanted.flatMap((room) => lists[room]()).filter(({ name }) => name.includes(options.only));
  if (options.sample === undefined) return all;
  const drawn = (name: string): string =>
    createHash('sha256')
      .update(options.seed + name)
      .digest('hex');
  return all.sort((a, b) => (drawn(a.name) < drawn(b.name) ? -1 : 1)).slice(0, Number(options.sample));
}

/** Installs from its lock file, without install scripts. */
function install(room: Room): void {
  const folder = roomPath(room);
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'node_modules', '.installed-by-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  console.log(`installing test/fidelity/${room}`);
  const words = [
    'ci',
    '--no-fund',
    '--no-audit',
    '--ignore-scripts',
    '--legacy-peer-deps',
    '--loglevel=error',
    '--prefix',
    folder,
  ];
  const { status } = spawnSync('npm', words, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm could not install test/fidelity/${room}`);
  writeFileSync(stamp, lock);
}

function nodePath(major: number): string {
  const path = join(roomPath('suites'), '..', '..', 'nodes', 'node_modules', `node-${major}`, 'bin', 'node');
  if (!existsSync(path)) throw new Error(`Node ${major} is not installed: npm ci --prefix test/nodes`);
  return realpathSync(path);
}

/** A program that this Node can't start, or that lacks a package, proves nothing. */
function whyUnusable(runs: readonly ProgramRun[]): string | undefined {
  if (runs.some(({ wasTooLong }) => wasTooLong)) return 'without the preload it did not end in two minutes';
  const [first] = runs;
  const text = `${first?.stdout}${first?.stderr}`;
  const missing =
    /Cannot find (?:module|package) '([^'./][^']*)'|ERR_UNKNOWN_FILE_EXTENSION|ERR_UNSUPPORTED_/.exec(text);
  if (missing && first?.code !== 0) return missing[1] ? `needs ${missing[1]}` : missing[0];
  return undefined;
}

async function compare(program: Program, node: number, slot: number): Promise<Result> {
  const run = (isLoaded: boolean) => runProgram(program, { node: nodePath(node), slot, isLoaded });
  const { name, package: of, room } = program;
  const result: Result = { program: name, package: of, room, node, differences: [] };
  const bare = [await run(false), await run(false)];
  const unusable = whyUnusable(bare);
  if (unusable) return { ...result, unusable };
  let compared = compareRuns(bare, await run(true));
  for (let round = 0; round < moreRounds && compared.differences.length > 0; round++) {
    bare.push(await run(false));
    compared = compareRuns(bare, await run(true));
  }
  result.levels = compared.levels;
  result.differences = compared.differences;
  const known = compared.differences.map((difference) => findException(name, difference));
  if (known.length > 0 && known.every((why) => why !== undefined)) result.excepted = known[0];
  return result;
}

function tell(result: Result, at: number, of: number): void {
  const { program, node, differences, excepted } = result;
  if (differences.length === 0) return;
  console.log(`${at}/${of} Node ${node}, ${program}: ${excepted ? `known: ${excepted.why}` : 'DIFFERS'}`);
  if (excepted) return;
  for (const { what, level, bare, loaded } of differences) {
    console.log(`    ${what} (${level})`);
    console.log(bare.slice(0, 1500).replace(/^/gm, '    - '));
    console.log(loaded.slice(0, 1500).replace(/^/gm, '    + '));
  }
}

function summarize(results: readonly Result[]): void {
  const compared = results.filter(({ unusable }) => !unusable);
  const count = (of: readonly Result[], key: (result: Result) => string) => new Set(of.map(key)).size;
  const equal = compared.filter(({ differences }) => differences.length === 0).length;
  const known = compared.filter(({ excepted }) => excepted).length;
  const open = compared.filter(({ excepted }) => excepted?.isOpen).length;
  console.log(
    `${count(compared, (r) => r.program)} programs of ${count(compared, (r) => r.package)} packages, ${compared.length} comparisons: ` +
      `${equal} equal, ${known} known exceptions (${open} ours to mend), ${compared.length - equal - known} differ; ${results.length - compared.length} left out`,
  );
  for (const stream of ['stdout', 'stderr', 'files'] as const) {
    const by = (level: Level) => compared.filter(({ levels: found }) => found?.[stream] === level).length;
    console.log(
      `  ${stream}: ${levels.flatMap((level) => (by(level) ? [`${by(level)} ${level}`] : [])).join(', ')}`,
    );
  }
  const reasons = new Map<string, number>();
  for (const { unusable } of results) if (unusable) reasons.set(unusable, (reasons.get(unusable) ?? 0) + 1);
  for (const [why, times] of reasons) console.log(`  left out, ${times}: ${why}`);
}

const programs = listPrograms();
const waiting = options.nodes
  .split(',')
  .map(Number)
  .flatMap((node) => programs.filter(({ not }) => !not?.[node as 20]).map((program) => ({ program, node })));
const total = waiting.length;
const results: Result[] = [];
const started = performance.now();
async function work(slot: number): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const result = await compare(next.program, next.node, slot);
    results.push(result);
    tell(result, results.length, total);
    if (results.length % 50 === 0)
      console.log(
        `${results.length}/${total} after ${((performance.now() - started) / 60_000).toFixed(1)} min`,
      );
  }
}
await Promise.all(Array.from({ length: Number(options.beside) }, (_, slot) => work(slot)));
for (const room of rooms)
  rmSync(join(roomPath(room), 'runs'), { recursive: true, force: true, maxRetries: 3 });
summarize(results);
if (options.report) writeFileSync(options.report, JSON.stringify(results, null, 1));
process.exitCode = results.some(({ differences, excepted }) => differences.length > 0 && !excepted) ? 1 : 0;
