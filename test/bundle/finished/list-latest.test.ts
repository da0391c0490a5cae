/** Which bundle `latest` means, if one process passes on the exit code of another one that died. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { writeSynthBundle } from '../../support/synth/synth-bundle.ts';
import { scratchFolder } from '../scratch-folder.ts';

interface Family {
  childKind?: string;
  exitCode?: number;
  /** The child's parent is a shell, which the exiting process had started. */
  throughShell?: boolean;
}

/** A process that exits with a code half a second after a child of its own died. */
function writeFamily(dir: string, { childKind = 'uncaught-exception', exitCode = 1, throughShell }: Family) {
  const child = writeSynthBundle(dir, {
    name: `20260102T030405.000Z-app-${childKind}-aaaaaaaa.agentdump`,
    parts: { 'trigger.json': { pid: 30 }, 'process.json': { parentPid: throughShell ? 20 : 10 } },
  });
  const bundle = { id: 'aaaaaaaa', name: basename(child) };
  const echo = writeSynthBundle(dir, {
    name: '20260102T030405.500Z-npm-exit-bbbbbbbb.agentdump',
    parts: {
      'trigger.json': { pid: 10, exitCode },
      'process-events.json': { children: throughShell ? [{ pid: 20, bundle }] : [] },
    },
  });
  return { child, echo };
}

test('the death in a child, not the exit that passed it on', (t) => {
  const dir = scratchFolder(t);
  const { child } = writeFamily(dir, {});
  assert.equal(findBundle('latest', dir), child);
});

test('the same where a shell stood between', (t) => {
  const dir = scratchFolder(t);
  const { child } = writeFamily(dir, { throughShell: true, childKind: 'terminated', exitCode: 143 });
  assert.equal(findBundle('latest', dir), child);
});

test('a worker that its runner stopped when all was said is no cause', (t) => {
  const dir = scratchFolder(t);
  const { echo } = writeFamily(dir, { childKind: 'terminated', exitCode: 1 });
  assert.equal(findBundle('latest', dir), echo);
});

test('somebody else’s death is not taken for a child’s', (t) => {
  const dir = scratchFolder(t);
  const { echo } = writeFamily(dir, {});
  const other = '20260102T030405.400Z-app-uncaught-exception-cccccccc.agentdump';
  writeSynthBundle(dir, { name: other, parts: { 'process.json': { parentPid: 99 } } });
  assert.notEqual(basename(findBundle('latest', dir)), other);
  assert.notEqual(findBundle('latest', dir), echo);
});

test('a bundle that was packed and encrypted is still the one that is meant, and its copies by their names', (t) => {
  const dir = scratchFolder(t);
  const name = '20260102T030405.000Z-app-exit-abcd1234.agentdump';
  const bundle = writeSynthBundle(dir, { name });
  const { path: packed } = packBundle(bundle);
  const encrypted = `${packed}.age`;
  writeFileSync(encrypted, 'age-encryption.org/v1\n');
  for (const wanted of ['latest', 'abcd', name]) assert.equal(findBundle(wanted, dir), bundle);
  for (const copy of [packed, encrypted]) assert.equal(findBundle(basename(copy), dir), copy);
  rmSync(bundle, { recursive: true });
  assert.equal(findBundle('abcd', dir), packed);
  rmSync(packed);
  assert.equal(findBundle('latest', dir), encrypted);
});
