/** Which files `.ci/run` need not run twice: one that asks for more Nodes or more runs somewhere must never be among them. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

// Imported dynamically: it runs before anything that compiles TypeScript, and has no types.
const { sameInBothRuns, sameWithMoreInputs } = await import(`${new URL('both-runs.mjs', import.meta.url)}`);

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
