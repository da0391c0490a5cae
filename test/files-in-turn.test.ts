/** Which files `.ci/run` tests with a commit, and which with another. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const { filesOfDeaths, inTurn, turns } = await import(
  `${new URL('support/run/files-in-turn.mjs', import.meta.url)}`
);
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

test('commits come to different turns', () => {
  const commits = Array.from({ length: 40 }, (_, at) => at.toString(16).padStart(40, 'a'));
  assert.equal(new Set(commits.map((commit) => inTurn(commit, [], new Set()).number)).size, turns);
});

test('the table of deaths names wide files that exist', () => {
  const files: Set<string> = filesOfDeaths(root);
  assert.ok(files.size >= 4, [...files].join());
  for (const file of files) assert.ok(existsSync(join(root, file)), file);
});
