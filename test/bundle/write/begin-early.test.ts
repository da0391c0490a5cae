/**
 * The folder that a death leaves before its writer is loaded: it is listed, and becomes the bundle's folder or is removed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { beginBundle, withdrawBegun } from '../../../src/bundle/write/begin-early.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { scratchFolder } from '../scratch-folder.ts';

const fields = { program: 'agent', verdictKind: 'uncaught-exception', writer: '0.1.0' };

test('it is listed, and read as a torn bundle', (t) => {
  const dir = join(scratchFolder(t), 'dumps');
  const path = beginBundle(dir, fields);
  const [only, ...others] = listBundles(dir);
  assert.equal(only?.path, path);
  assert.deepEqual(others, []);
  assert.equal(only?.state, 'partial');
  assert.equal(only?.program, 'agent');
  assert.equal(only?.verdictKind, 'uncaught-exception');
  const bundle = openBundle(path);
  assert.equal(bundle.sealed, false);
  assert.ok(bundle.gaps.some(({ part }) => part === 'manifest.json'));
  bundle.close();
});

test('the usual dump folder is nothing for git, any other is left as it is', (t) => {
  const project = scratchFolder(t);
  const [usual, named] = [join(project, '.agentdump'), join(project, 'dumps')];
  for (const dir of [usual, named]) beginBundle(dir, fields);
  assert.equal(readFileSync(join(usual, '.gitignore'), 'utf8'), '*\n');
  assert.ok(!existsSync(join(named, '.gitignore')));
  writeFileSync(join(usual, '.gitignore'), '');
  beginBundle(usual, fields);
  assert.equal(readFileSync(join(usual, '.gitignore'), 'utf8'), '');
});

test('what formats and lints a project leaves the usual dump folder alone', (t) => {
  const project = scratchFolder(t);
  const usual = join(project, '.agentdump');
  const begun = beginBundle(usual, fields);
  writeFileSync(join(begun, 'process.json'), '{"pid":1,   "cwd":\n"/"}');
  for (const name of readdirSync(usual, { recursive: true, encoding: 'utf8' }))
    assert.doesNotMatch(name, /\.[cm]?[jt]sx?$/, 'a linter would take it for code of the project');
  writeFileSync(join(project, 'app.js'), "console.log('x');\n");
  const biome = join(import.meta.dirname, '../../../node_modules/.bin/biome');
  const check = () => spawnSync(biome, ['format', '.'], { cwd: project, encoding: 'utf8' });
  assert.doesNotMatch(check().stdout + check().stderr, /agentdump/);
  rmSync(join(usual, 'biome.json'));
  assert.match(check().stdout + check().stderr, /agentdump/);
  // Prettier's way to leave a file as it is: a range that ends where it begins.
  assert.deepEqual(JSON.parse(readFileSync(join(usual, '.prettierrc'), 'utf8')), { rangeEnd: 0 });
});

test('the writer takes it over under the name that is known by then', (t) => {
  const dir = scratchFolder(t);
  const begun = beginBundle(dir, fields);
  const id = '0123456789abcdef';
  const writer = startBundle({ ...fields, dir, begun, id, verdictKind: 'startup-failure' });
  const [only, ...others] = listBundles(dir);
  assert.deepEqual([only?.verdictKind, only?.shortId, others], ['startup-failure', '01234567', []]);
  assert.ok(writer.writePart('trigger.json', '{}'));
  const path = writer.seal();
  assert.deepEqual(readdirSync(path).sort(), ['manifest.json', 'trigger.json']);
  assert.equal(listBundles(dir).length, 1);
  withdrawBegun(begun);
  assert.equal(listBundles(dir).length, 1);
});

test('a line that was torn does not swallow the next', (t) => {
  const dir = scratchFolder(t);
  const begun = beginBundle(dir, fields);
  writeFileSync(join(begun, 'progress.jsonl'), '{"begin": {"sch');
  startBundle({ ...fields, dir, begun });
  assert.equal(listBundles(dir)[0]?.program, 'agent');
});

test('one that is gone when the writer comes: the bundle has a folder of its own', (t) => {
  const dir = scratchFolder(t);
  const begun = beginBundle(dir, fields);
  withdrawBegun(begun);
  assert.deepEqual(readdirSync(dir), []);
  const writer = startBundle({ ...fields, dir, begun });
  assert.ok(writer.writePart('trigger.json', '{}'));
  assert.ok(openBundle(writer.seal()).sealed);
});
