/** The store and durable runs may be in one database, where each must find its own tables. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const namesIn = (file: string): string[] => {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  const found = source.matchAll(/create (?:table|index) if not exists (\w+)/g);
  return Array.from(found, ([, name = '']) => name);
};

test('no table or index has the name of one of durable runs', () => {
  const [own, theirs] = [namesIn('store/index/tables.ts'), namesIn('durable/stores/postgres/tables.ts')];
  assert.ok(own.length > 10 && theirs.length > 3);
  assert.deepEqual(
    own.filter((name) => theirs.includes(name)),
    [],
  );
});
