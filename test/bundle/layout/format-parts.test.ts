/** FORMAT.md specifies every part that the layout names, in the layout's order, and no other. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mapPartPrefix, partNames, sourcePartPrefix } from '../../../src/bundle/layout/bundle.ts';

const text = readFileSync(new URL('../../../src/bundle/FORMAT.md', import.meta.url), 'utf8');
const [, section = ''] = text.split('\n## The parts\n');
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` +\|(.*)\|$/gm)];

test('every part has a row, in the order of its value', () => {
  assert.deepEqual(
    rows.map(([, name]) => name),
    Object.values(partNames),
  );
});

test('each row says what it holds, who writes it, and its shape, which the layouts export', () => {
  const layouts = [
    'bundle/layout/bundle',
    'bundle/layout/error',
    'bundle/layout/origin',
    'bundle/layout/surroundings',
    'bundle/layout/tests',
    'bundle/layout/evidence',
    'journal/layout/agent',
  ]
    .map((name) => readFileSync(new URL(`../../../src/${name}.ts`, import.meta.url), 'utf8'))
    .join('\n');
  for (const [, name, cells = ''] of rows) {
    const [what, who, shape] = cells.split('|').map((cell) => cell.trim());
    assert.ok(what && who && shape, name);
    const type = /^`(\w+Part)`$/.exec(shape)?.[1];
    if (type) assert.match(layouts, new RegExp(`export interface ${type} `), type);
  }
});

test('the parts of sources and maps', () => {
  assert.ok(section.includes(`\`${sourcePartPrefix}<n>.txt\``));
  assert.ok(section.includes(`\`${mapPartPrefix}<n>.map\``));
});
