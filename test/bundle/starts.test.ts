/** The starts that a dump folder has counted: by day and program, whatever else is in the folder. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteEnd, noteStart, readStarts } from '../../src/bundle/keep/starts.ts';
import { startsFolder } from '../../src/bundle/layout/bundle.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const sessionOf = (n: number): string => n.toString(16).padStart(16, '0');
const bundle = '20261125T102422.499Z-server-unhandled-rejection-d57b0fd4.agentdump';

test('starts are counted by program, and bundles find the start that they ended', (t) => {
  const dir = temporaryFolder(t);
  assert.deepEqual(readStarts(dir).days, []);
  for (const n of [1, 2, 3]) noteStart(dir, { session: sessionOf(n), program: 'shop' });
  noteStart(dir, { session: sessionOf(4), program: 'ein Müll\nwort' });
  noteEnd(dir, { bundle, program: 'npm' });
  noteEnd(dir, { bundle: 'no-bundle', program: 'npm' });
  const { days, programOf } = readStarts(dir);
  assert.deepEqual(
    days.map(({ program, count }) => [program, count]),
    [
      ['shop', 3],
      ['ein Müll\nwort', 1],
    ],
  );
  assert.equal(programOf({ name: 'x', session: sessionOf(2) }), 'shop');
  assert.equal(programOf({ name: `${bundle}.zip.age`, session: undefined }), 'npm');
  assert.equal(programOf({ name: 'x', session: sessionOf(9) }), undefined);
});

test('old days go, and torn or foreign lines and files count nothing', (t) => {
  const dir = temporaryFolder(t);
  const folder = join(dir, startsFolder);
  mkdirSync(folder);
  const old = `2020-01-01-${sessionOf(7)}.log`;
  writeFileSync(join(folder, old), `start ${sessionOf(7)} shop\n`);
  writeFileSync(join(folder, 'told-0123456789abcdef'), `start ${sessionOf(8)} shop\n`);
  noteStart(dir, { session: sessionOf(1), program: 'shop' });
  const [log = '', ...others] = readdirSync(folder).filter((name) => name.endsWith('.log'));
  assert.deepEqual(others, []);
  appendFileSync(join(folder, log), `start ${sessionOf(2)} %ff\nstart x shop\n\0\nstart ${sessionOf(3)} sh`);
  assert.deepEqual(
    readStarts(dir).days.map(({ program, count }) => [program, count]),
    [
      ['shop', 1],
      ['%ff', 1],
    ],
  );
});

test('a folder that can not be written to does not keep a program from starting', (t) => {
  const dir = join(temporaryFolder(t), 'file');
  writeFileSync(dir, '');
  noteStart(dir, { session: sessionOf(1), program: 'shop' });
  assert.deepEqual(readStarts(dir).days, []);
});
