/**
 * The Nodes on which the tests run programs that die. `npm test` has one, the running one; `npm run test:all`
 * (AGENTDUMP_TESTS=all) has the whole matrix, which it installs in test/nodes.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installed = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'nodes', 'node_modules');

/** True in the run that has other Nodes, oracles, real clients and runners. */
export const isWideRun = process.env['AGENTDUMP_TESTS'] === 'all';

/** The `skip` option for tests that take too long for `npm test`. */
export const onlyWide: string | false = isWideRun ? false : 'takes long';

/** All cases in the wide run; otherwise every nth, starting with the first. */
export const sampleOf = <Case>(all: readonly Case[], nth: number): readonly Case[] =>
  isWideRun ? all : all.filter((_, at) => at % nth === 0);

export interface TestNode {
  major: number;
  /** `Node 24` */
  name: string;
  path: string;
}

const named = (major: number, path: string): TestNode => ({ major, name: `Node ${major}`, path });

const running = named(Number(process.versions.node.split('.')[0]), process.execPath);

/** The Nodes of this run, oldest first. */
export const testNodes: readonly TestNode[] = isWideRun
  ? [20, 22, 24, 26].map((major) => named(major, realpathSync(requireBinary(major))))
  : [running];

export const testMajors: readonly number[] = testNodes.map(({ major }) => major);

/** For tests that need only some majors: these in the wide run, otherwise the one Node of this run. */
export const majorsOf = (...wanted: number[]): readonly number[] => (isWideRun ? wanted : testMajors);

/**
 * In `.ci/run`: how often the file has run before (files-in-turn.mjs), or the commit if that is not known. Without it (a run by
 * hand) every case runs.
 */
const turn = isWideRun ? process.env['AGENTDUMP_TESTS_TURN'] : undefined;

const hashOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32LE();

const testFile = basename(process.argv[1] ?? '');

/** One more with each run of the file, and another for each file; by chance if only the commit is known. */
const drawn = /^\d{1,9}$/.test(turn ?? '') ? Number(turn) + hashOf(testFile) : hashOf(`${turn} ${testFile}`);

/**
 * For large tables that contain no way to die: in `.ci/run` every nth case, in n runs of the file each;
 * otherwise all.
 */
export const partInTurn = <Case>(all: readonly Case[], nth: number): readonly Case[] =>
  turn ? all.filter((_, at) => at % nth === drawn % nth) : all;

/** For counts of random trials (kills, generated programs): in `.ci/run` one nth of them, otherwise all. */
export const countInTurn = (count: number, nth: number): number => (turn ? Math.ceil(count / nth) : count);

/**
 * For tables of which every case must meet every Node, and none each time: in `.ci/run` every other case, the others on the
 * next Node and with the next commit; otherwise all.
 */
export const halfInTurn = <Case>(all: readonly Case[], node: number): readonly Case[] =>
  turn ? all.filter((_, at) => (at + node + drawn) % 2 === 0) : all;

const oneInTurn = <Case>(all: readonly Case[]): readonly Case[] => partInTurn(all, all.length);

/** For what hardly depends on Node's version: in `.ci/run` one of `testNodes`. Not for the table of deaths. */
export const nodesInTurn: readonly TestNode[] = oneInTurn(testNodes);

/** The same for the given majors. */
export const majorsInTurn = (...wanted: number[]): readonly number[] => oneInTurn(majorsOf(...wanted));

/** For tests that need only one Node. */
export const usualNode: TestNode = testNodes.find(({ major }) => major === 24) ?? running;

/** The path of a Node of this run. Throws if the run has none of this major. */
export function nodeOf(major: number): string {
  const found = testNodes.find((node) => node.major === major);
  if (!found) throw new Error(`this run has no Node ${major}, only ${testMajors.join(', ')}`);
  return found.path;
}

function requireBinary(major: number): string {
  const path = join(installed, `node-${major}`, 'bin', 'node');
  if (existsSync(path)) return path;
  throw new Error(`Node ${major} is not installed: npm run test:all, or npm ci --prefix test/nodes`);
}
