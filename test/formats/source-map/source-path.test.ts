/** Names of sources to paths, without a disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinSourceRoot, resolveDots, resolveSource } from '../../../src/formats/source-map/source-path.ts';

const dots: [string, string][] = [
  ['a/./b/../c.ts', 'a/c.ts'],
  ['../../a.ts', '../../a.ts'],
  ['./a.ts', 'a.ts'],
  ['/a/../../b.ts', '/b.ts'],
  ['webpack:///./src/a.ts', 'webpack:///src/a.ts'],
  ['webpack://my-app/./src/../a.ts', 'webpack://my-app/a.ts'],
  ['webpack://my-app/../a.ts', 'webpack://my-app/a.ts'],
  ['C:/a/../b.ts', 'C:/b.ts'],
  ['a...b/..c/d.ts', 'a...b/..c/d.ts'],
  ['', ''],
];
for (const [path, wanted] of dots)
  test(`${path} is ${wanted}`, () => {
    assert.equal(resolveDots(path), wanted);
  });

test('sourceRoot goes before relative names only', () => {
  assert.equal(joinSourceRoot('/app/src', 'a.ts'), '/app/src/a.ts');
  assert.equal(joinSourceRoot('../src/', './a.ts'), '../src/a.ts');
  assert.equal(joinSourceRoot('/app', '/other/a.ts'), '/other/a.ts');
  assert.equal(joinSourceRoot('/app', 'webpack:///a.ts'), 'webpack:///a.ts');
  assert.equal(joinSourceRoot('', 'a.ts'), 'a.ts');
});

test('a source is resolved against the folder of its map', () => {
  assert.equal(resolveSource('/app/dist', '../src/a b.ts'), '/app/src/a b.ts');
  assert.equal(resolveSource('/app/dist/', 'a.ts'), '/app/dist/a.ts');
  assert.equal(resolveSource('', '../a.ts'), '../a.ts');
  assert.equal(resolveSource('/app/dist', 'file:///app/src/a%20b.ts'), '/app/src/a b.ts');
  assert.equal(resolveSource('/app/dist', 'file:///100%.ts'), '/100%.ts');
  assert.equal(resolveSource('/app/dist', 'webpack:///src/a.ts'), 'webpack:///src/a.ts');
});
