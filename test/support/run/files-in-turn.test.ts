/**
 * Which files `.ci/run` tests with a commit, which with another, and which it need not run twice: one that asks for more Nodes or
 * more runs somewhere must never be among those.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..', '..');
const { filesOfEachTurn, inTurn, runsBefore, turns } = await import(
  `${new URL('files-in-turn.mjs', import.meta.url)}`
);
const { sameInBothRuns, sameWithMoreInputs } = await import(`${new URL('both-runs.mjs', import.meta.url)}`);
const wide = Array.from({ length: 100 }, (_, at) => `test/room/file-${at}.wide.test.ts`);

test('each wide file has one turn, others and those of the table of deaths have all', () => {
  const files = ['test/a.test.ts', 'test/b.wide.test.ts', ...wide];
  const always = new Set(['test/b.wide.test.ts']);
  const seen = new Map<string, number>();
  for (let turn = 0; turn < turns; turn++) {
    const { number, due, later } = inTurn(String(turn), files, always);
    assert.equal(number, turn);
    assert.deepEqual([...due, ...later].sort(), files.slice().sort());
    for (const file of due) seen.set(file, (seen.get(file) ?? 0) + 1);
  }
  for (const file of files) assert.equal(seen.get(file), wide.includes(file) ? 1 : turns, file);
});

test('a file named as one that runs once has one turn, unless it belongs to all', () => {
  const files = Array.from({ length: 20 }, (_, at) => `test/room/fuzz-${at}.test.ts`);
  const [first = ''] = files;
  const dueIn = (turn: number): string[] => inTurn(String(turn), files, new Set([first]), new Set(files)).due;
  const due = Array.from({ length: turns }, (_, turn) => dueIn(turn)).flat();
  assert.deepEqual(due.filter((file) => file !== first).sort(), files.slice(1).sort());
  assert.equal(due.filter((file) => file === first).length, turns);
});

test('five commits in a row have five turns, whatever their hashes; of a shallow clone the hash decides', () => {
  const numberOf = (turn: string): number => inTurn(turn, [], new Set()).number;
  for (const first of [0, 17, 1633]) {
    const row = Array.from({ length: turns }, (_, at) => numberOf(String(first + at)));
    assert.equal(new Set(row).size, turns, row.join());
  }
  const commits = Array.from({ length: 40 }, (_, at) => at.toString(16).padStart(40, 'a'));
  assert.equal(new Set(commits.map(numberOf)).size, turns);
});

test('the long wide files are spread evenly over the turns', async () => {
  const { longFiles } = await import(`${new URL('run-order.mjs', import.meta.url)}`);
  const always: Set<string> = filesOfEachTurn(root);
  const long: string[] = longFiles.filter((file: string) => /\.wide\.test/.test(file) && !always.has(file));
  const counts = Array.from({ length: turns }, (_, turn) => inTurn(String(turn), long, always).due.length);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join());
});

test('a file draws its parts by how often it has run: each commit, or each fifth', () => {
  const always = new Set(['test/b.wide.test.ts']);
  for (const file of ['test/a.test.ts', 'test/b.wide.test.ts'])
    assert.equal(runsBefore('1633', file, always), '1633');
  assert.equal(runsBefore('1633', 'test/c.wide.test.ts', always), '326');
  assert.equal(runsBefore('1638', 'test/c.wide.test.ts', always), '327');
});

test('the files of each turn exist, and so do the long ones', async () => {
  const { longFiles } = await import(`${new URL('run-order.mjs', import.meta.url)}`);
  const files: Set<string> = filesOfEachTurn(root);
  assert.ok(files.size >= 5, [...files].join());
  for (const file of [...files, ...longFiles]) assert.ok(existsSync(join(root, file)), file);
});

const helpers = {
  'test/support/run/test-nodes.ts':
    'export const testNodes = [];\nexport interface TestNode {\n  path: string;\n}\n',
  'test/support/folders.ts': `import { type TestNode, testNodes as all } from './run/test-nodes.ts';
export const findNodes = (): readonly TestNode[] => all;
export function folder(): string {
  return base;
}
const base = 'x';
export function each(run: () => void): void {
  helper(run);
}
function helper(run: () => void): void {
  for (const _ of findNodes()) run();
}
`,
  'test/support/fuzz.ts': `import { testNodes } from './run/test-nodes.ts';
configure(testNodes.length);
export const runs = 3;
`,
  'test/support/run/fuzz-runs.ts': `import { testNodes } from './test-nodes.ts';
export const fuzzRuns = (count: number): number => count * testNodes.length;
`,
  'test/support/program.ts': `import { findNodes } from './folders.ts';
console.log(findNodes());
`,
  'test/support/over.ts': `export { findNodes } from './folders.ts';
`,
};

function same(tests: Record<string, string>, which = sameInBothRuns): string[] {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-both-'));
  try {
    for (const [path, text] of Object.entries({ ...helpers, ...tests })) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return which(root, Object.keys(tests));
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('a file that takes of a helper what asks nothing is the same in both runs', () => {
  const quiet = {
    'test/a.test.ts': `import { folder } from './support/folders.ts';\nfolder();\n`,
    'test/b.test.ts': `import type { TestNode } from './support/run/test-nodes.ts';\nlet one: TestNode;\n`,
    'test/c.test.ts': `import { type TestNode } from './support/run/test-nodes.ts';\nlet one: TestNode;\n`,
  };
  assert.deepEqual(same(quiet), Object.keys(quiet));
});

test('a file that asks itself, or by a helper, what it loads or a program that it starts, is not', () => {
  assert.deepEqual(
    same({
      'test/a.test.ts': `import { testNodes } from './support/run/test-nodes.ts';\nfor (const one of testNodes) run(one);\n`,
      'test/b.test.ts': `import { findNodes as nodes } from './support/folders.ts';\nnodes();\n`,
      'test/c.test.ts': `import { each } from './support/folders.ts';\neach(() => {});\n`,
      'test/d.test.ts': `import { runs } from './support/fuzz.ts';\nruns;\n`,
      'test/e.test.ts': `import './support/fuzz.ts';\n`,
      'test/f.test.ts': `const program = new URL('./support/program.ts', import.meta.url);\nrun(program);\n`,
      'test/g.test.ts': `import { findNodes } from './support/over.ts';\nfindNodes();\n`,
      'test/h.test.ts': `import * as folders from './support/folders.ts';\nfolders.findNodes();\n`,
    }),
    [],
  );
});

test('a file that only has more inputs is the same with more inputs', () => {
  const fuzzed = `import { fuzzRuns } from './support/run/fuzz-runs.ts';\nfuzzRuns(9);\n`;
  const tests = {
    'test/a.test.ts': fuzzed,
    'test/b.test.ts': `${fuzzed}import { findNodes } from './support/folders.ts';\nfindNodes();\n`,
    'test/c.test.ts': `import { folder } from './support/folders.ts';\nfolder();\n`,
  };
  assert.deepEqual(same(tests), ['test/c.test.ts']);
  assert.deepEqual(same(tests, sameWithMoreInputs), ['test/a.test.ts']);
});
