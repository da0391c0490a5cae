/**
 * `npm run trial:durable-peers -- --programs N --seed N --kills N --rounds N`: the same random programs on one PostgreSQL
 * server by ours and by DBOS, many in one process, which is killed at random instants up to N times and then left alone. Needs
 * `npm ci --prefix test/durable-peers` and Debian's PostgreSQL.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { dbosAvailable } from '../../../bench/peers/durable-engines.ts';
import { SeededRandom } from '../../../support/synth/seeded-random.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../../support/system/postgres.ts';
import { randomTree, type Tree } from '../random-programs.ts';
import { engines } from './engines.ts';
import { type Happening, judge } from './judge.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '1' },
  },
});
const programs = Number(values.programs);
const kills = Number(values.kills);
const longestLifeMs = 120_000;
const program = fileURLToPath(new URL('live.ts', import.meta.url));
const why = whyNoPostgres() ?? (dbosAvailable() ? undefined : 'npm ci --prefix test/durable-peers');
if (why) throw new Error(why);

/** Of what happened, per program and life at most: a fraction of a program. */
const bytesOfProgram = 150;

/** Without questions, which DBOS has no counterpart for: they are sleeps here. */
function expressed(tree: Tree): Tree {
  if (tree.kind === 'approval') return { kind: 'sleep', ms: 5 };
  if ('parts' in tree) return { ...tree, parts: tree.parts.map(expressed) };
  if ('body' in tree) return { ...tree, body: expressed(tree.body) };
  return tree;
}

const isStep = (tree: Tree): boolean =>
  'parts' in tree ? tree.parts.some(isStep) : 'body' in tree ? isStep(tree.body) : tree.kind !== 'sleep';

/** Programs large enough that a kill finds them at work. */
function drawPrograms(firstSeed: number): Tree[] {
  const trees: Tree[] = [];
  for (let seed = firstSeed; trees.length < programs; seed++) {
    const drawn = new SeededRandom(seed);
    const tree = expressed({
      kind: 'seq',
      parts: Array.from({ length: 4 }, () => randomTree(() => drawn.next(), {})),
    });
    if (isStep(tree)) trees.push(tree);
  }
  return trees;
}

/**
 * Kills the process once it has done so much, by the bytes of what happened, and a random instant later. Returns whether all
 * programs have ended.
 */
async function live(words: string[], happenings: string, death?: Death): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...words, happenings], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  let isOver = false;
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      isOver = true;
      resolve();
    }),
  );
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const before = sizeOf(happenings);
  const hasDone = () => death !== undefined && sizeOf(happenings) >= before + death.afterBytes;
  for (const untilMs = performance.now() + longestLifeMs; performance.now() < untilMs; await sleep(2))
    if (isOver || hasDone()) break;
  if (death) await sleep(death.pauseMs);
  child.kill('SIGKILL');
  await ended;
  return said.includes('all have ended');
}

interface Death {
  afterBytes: number;
  pauseMs: number;
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

async function newDatabase(server: PostgresServer, name: string): Promise<string> {
  const client = new Client(server.url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.url.replace(/postgres$/, name);
}

const server = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'agentdump-peers-'));
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    const seed = Number(values.seed) + round * 1_000;
    const random = new SeededRandom(seed);
    const file = join(folder, `programs-${round}`);
    writeFileSync(file, JSON.stringify(drawPrograms(seed)));
    const deaths = Array.from({ length: kills }, () => ({
      afterBytes: 1 + random.below(programs * bytesOfProgram),
      pauseMs: random.below(10),
    }));
    for (const name of Object.keys(engines)) {
      const happenings = join(folder, `${name}-${round}`);
      const words = [name, await newDatabase(server, `${name.toLowerCase()}_${round}`), file];
      let lives = 1;
      for (const death of deaths) {
        if (await live(words, happenings, death)) break;
        lives++;
      }
      if (lives > kills) await live(words, happenings);
      const lines = existsSync(happenings) ? readFileSync(happenings, 'utf8').trim().split('\n') : [];
      const { lines: faults, ...counts } = judge(
        lines.map((line) => JSON.parse(line) as Happening),
        programs,
      );
      console.log(`seed ${seed}, ${name}: ${programs} programs, ${lives} lives: ${JSON.stringify(counts)}`);
      for (const line of faults.slice(0, 5)) console.log(`  ${line}`);
    }
  }
} finally {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
}
