/**
 * What grew between two snapshots of a process: the container, the class and the number of objects, with objects that can be
 * inspected.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { growthBetween } from '../../../src/workbench/heap/growth.ts';
import { openSession } from '../../../src/workbench/heap/open-session.ts';
import { writeGrowingHeaps } from '../../support/heaps/growing-heaps.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-growth-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const placeOf = (name: string) => ({
  path: join(folder, `${name}.heapsnapshot`),
  name,
  kind: 'heap' as const,
});

test('400 sessions in a Map', async () => {
  const [before, after] = [placeOf('before'), placeOf('after')];
  writeGrowingHeaps(before.path, after.path);
  const said = new Set<string>();
  const growth = await growthBetween([before, after], ({ text }) => said.add(text));
  assert.equal(growth.matchedBy, 'id');
  const sessions = growth.classes.find(({ class: name }) => name === 'Session');
  assert.deepEqual([sessions?.counts, sessions?.added, sessions?.removed], [[100, 500], 400, 0]);
  const [grown] = growth.grown;
  assert.match(grown!.path, /registry\.sessions/);
  assert.ok(growth.suspects.length > 0);
  assert.ok(said.has('comparing'));
  const three = await growthBetween([before, before, after], () => {});
  assert.deepEqual(three.classes.find(({ class: name }) => name === 'Session')?.counts, [100, 100, 500]);
  assert.equal(three.snapshots.length, 3);
  const later = await openSession(after, () => {});
  assert.equal(later.answer({ ask: 'object', id: grown!.node.id }).object.class, grown!.node.class);
});
