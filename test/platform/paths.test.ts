/** Paths of each system, compared with node:path's own rules for it. */
import assert from 'node:assert/strict';
import { posix, win32 } from 'node:path';
import { test } from 'node:test';
import { shortFile } from '../../src/model/frame-text.ts';
import {
  beforeLastName,
  below,
  isAbsolutePath,
  isInstalled,
  lastName,
  withSlashes,
} from '../../src/platform/paths.ts';

const absolute: Record<string, typeof posix> = {
  'C:\\app\\src\\main.ts': win32,
  'c:/app/node_modules/a/index.js': win32,
  '\\\\server\\share\\app\\main.js': win32,
  '/srv/app/main.js': posix,
  '/srv/odd\\name.js': posix,
};

for (const [path, rules] of Object.entries(absolute))
  test(`${path} as node:path reads it`, () => {
    assert.equal(isAbsolutePath(path), rules.isAbsolute(path));
    assert.equal(lastName(path), rules.basename(path));
    assert.equal(beforeLastName(path) + lastName(path), path);
    const folder = rules.dirname(path);
    assert.equal(below(folder, path), rules.relative(folder, path));
    assert.equal(below(`${folder}x`, path), undefined);
  });

test('what is no absolute path of any system', () => {
  for (const path of ['main.js', './a', 'node:fs', 'a\\b', 'C:main.js', 'file:///C:/a', ''])
    assert.equal(isAbsolutePath(path), false, path);
});

test('Windows tells no case apart, others do', () => {
  assert.equal(below('c:\\App', 'C:\\app\\Main.js'), 'Main.js');
  assert.equal(below('/App', '/app/main.js'), undefined);
});

test('installed packages and shown files', () => {
  assert.equal(isInstalled('D:\\w\\node_modules\\p\\i.js'), true);
  assert.equal(isInstalled('/w/node_modules/p/i.js'), true);
  assert.equal(isInstalled('D:\\w\\src\\i.js'), false);
  assert.equal(withSlashes('D:\\w\\i.js'), 'D:/w/i.js');
  assert.equal(shortFile('C:\\app\\src\\main.ts', 'C:\\app'), 'src\\main.ts');
  assert.equal(shortFile('/app/src/main.ts', '/app/'), 'src/main.ts');
  assert.equal(shortFile('file:///C:/app/src/main.ts', 'C:\\app'), 'src/main.ts');
  assert.equal(shortFile('/apple/main.ts', '/app'), '/apple/main.ts');
});
