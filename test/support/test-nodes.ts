/**
 * The Nodes on which the tests let programs die. `npm test` has one, that which runs the tests; `npm run test:all`
 * (AGENTDUMP_TESTS=all) has the whole matrix, which it installs in test/nodes.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installed = join(dirname(fileURLToPath(import.meta.url)), '..', 'nodes', 'node_modules');

/** The run that has other Nodes, oracles, real clients and runners. */
export const isWideRun = process.env['AGENTDUMP_TESTS'] === 'all';

/** `skip` of a test for which `npm test` has no time. */
export const onlyWide: string | false = isWideRun ? false : 'takes long';

/** All in the wide run; else each nth from the first on. */
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

/** Of this run, oldest first. */
export const testNodes: readonly TestNode[] = isWideRun
  ? [20, 22, 24, 26].map((major) => named(major, realpathSync(requireBinary(major))))
  : [running];

export const testMajors: readonly number[] = testNodes.map(({ major }) => major);

/** Where some are enough: these of the matrix, or the one Node of this run. */
export const majorsOf = (...wanted: number[]): readonly number[] => (isWideRun ? wanted : testMajors);

/** Of `.ci/run`: its commit. By hand there is none, and nothing is chosen. */
const turn = isWideRun ? process.env['AGENTDUMP_TESTS_TURN'] : undefined;

/** Another number for each test file and commit. */
const drawn = createHash('sha256')
  .update(`${turn} ${basename(process.argv[1] ?? '')}`)
  .digest()
  .readUInt32LE();

/** Of large tables that hold no way to die: in `.ci/run` every nth case, others with each commit; else all. */
export const partInTurn = <Case>(all: readonly Case[], nth: number): readonly Case[] =>
  turn ? all.filter((_, at) => at % nth === drawn % nth) : all;

const oneInTurn = <Case>(all: readonly Case[]): readonly Case[] => partInTurn(all, all.length);

/** Of what Node's version decides little: in `.ci/run` one of `testNodes`. Not for the table of deaths. */
export const nodesInTurn: readonly TestNode[] = oneInTurn(testNodes);

/** The same of these majors. */
export const majorsInTurn = (...wanted: number[]): readonly number[] => oneInTurn(majorsOf(...wanted));

/** Where one Node is enough. */
export const usualNode: TestNode = testNodes.find(({ major }) => major === 24) ?? running;

/** The binary of a Node of this run. Throws when the run has none of this major. */
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
