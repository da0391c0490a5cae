/** On which line a test is written, for a death without a stack. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTestPlace, lineOfTest } from '../../../src/ci/report/test-place.ts';

const source = `describe('adds', () => {
  it('small numbers', () => {});
});
describe("multiplies", () => {
  it('small numbers', () => {});
  it(\`what isn't there\`, () => {});
  it('a "quoted" \\'word\\'', () => {});
  it('a\\nline', () => {});
  for (const n of [1, 2]) it(\`number \${n}\`, () => {});
});
`;

const cases: [string, string[], number | undefined][] = [
  ['a test of the first suite', ['adds', 'small numbers'], 2],
  ['one of the same title in another suite', ['multiplies', 'small numbers'], 5],
  ['an apostrophe', ['multiplies', "what isn't there"], 6],
  ['quotes that are escaped', ['multiplies', `a "quoted" 'word'`], 7],
  ['a line end', ['multiplies', 'a\nline'], 8],
  ['a suite that is none of the file (a project’s name)', ['chromium', 'multiplies', "what isn't there"], 6],
  ['a title that stands twice, of an unknown suite', ['chromium', 'small numbers'], undefined],
  ['a title that is computed', ['multiplies', 'number 1'], undefined],
  ['part of a title', ['adds', 'small'], undefined],
  ['no title', [], undefined],
];
for (const [what, name, line] of cases) test(what, () => assert.equal(lineOfTest(source, name), line));

test('a file is a path or an address; one that is gone has no lines', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-place-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'a.test.mjs');
  writeFileSync(file, source);
  const name = ['adds', 'small numbers'];
  assert.deepEqual(findTestPlace({ file, name }), { file, line: 2 });
  assert.deepEqual(findTestPlace({ file: `file://${file}`, name }), { file, line: 2 });
  assert.equal(findTestPlace({ file: join(folder, 'gone.mjs'), name }), undefined);
  assert.equal(findTestPlace({ name }), undefined);
});
