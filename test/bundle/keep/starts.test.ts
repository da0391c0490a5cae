/** The starts that a dump folder has counted: by day and program, whatever else is in the folder. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mostLogBytes, noteEnd, noteStart, programsOf, readStarts } from '../../../src/bundle/keep/starts.ts';
import { startsFolder } from '../../../src/bundle/layout/bundle.ts';
import { beOn } from '../../support/hostname.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

const sessionOf = (n: number): string => n.toString(16).padStart(16, '0');
const bundle = '20261125T102422.499Z-server-unhandled-rejection-d57b0fd4.agentdump';

test('starts are counted by program, and bundles find the start that they ended', (t) => {
  const dir = temporaryFolder(t);
  assert.deepEqual(readStarts(dir), []);
  for (const n of [1, 2, 3]) noteStart(dir, { session: sessionOf(n), program: 'shop' });
  noteStart(dir, { session: sessionOf(4), program: 'ein Müll\nwort' });
  noteEnd(dir, { bundle, program: 'npm' });
  noteEnd(dir, { bundle: 'no-bundle', program: 'npm' });
  const programOf = programsOf(dir);
  assert.deepEqual(
    readStarts(dir).map(({ program, count }) => [program, count]),
    [
      ['shop', 3],
      ['ein Müll\nwort', 1],
    ],
  );
  assert.equal(programOf({ name: 'x', session: sessionOf(2) }), 'shop');
  assert.equal(programOf({ name: `${bundle}.zip.age`, session: undefined }), 'npm');
  assert.equal(programOf({ name: 'x', session: sessionOf(9) }), undefined);
  assert.equal(programOf({ name: 'x', session: `${sessionOf(2)} shop\nstart` }), undefined);
});

test('old days go, and torn or foreign lines and files count nothing', (t) => {
  const dir = temporaryFolder(t);
  const folder = join(dir, startsFolder);
  mkdirSync(folder);
  const old = `2020-01-01-${sessionOf(7)}-web-1.log`;
  writeFileSync(join(folder, old), `start ${sessionOf(7)} shop\n`);
  writeFileSync(join(folder, 'told-0123456789abcdef'), `start ${sessionOf(8)} shop\n`);
  noteStart(dir, { session: sessionOf(1), program: 'shop' });
  const [log = '', ...others] = readdirSync(folder).filter((name) => name.endsWith('.log'));
  assert.deepEqual(others, []);
  appendFileSync(join(folder, log), `start ${sessionOf(2)} %ff\nstart x shop\n\0\nstart ${sessionOf(3)} sh`);
  assert.deepEqual(
    readStarts(dir).map(({ program, count }) => [program, count]),
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
  assert.deepEqual(readStarts(dir), []);
});

test('a machine appends to its own log, and leaves those of others as they are', (t) => {
  const dir = temporaryFolder(t);
  for (const host of ['web-1', 'ein/rechner', 'web-1']) {
    beOn(t, host);
    noteStart(dir, { session: sessionOf(1), program: 'shop' });
  }
  assert.deepEqual(
    readStarts(dir)
      .map(({ host, count }) => [host, count])
      .sort(),
    [
      ['ein%2Frechner', 1],
      ['web-1', 2],
    ],
  );
});

test('of a program that is started again and again, it is noted once that its starts are no longer counted', (t) => {
  const dir = temporaryFolder(t);
  const folder = join(dir, startsFolder);
  for (const n of [1, 2]) noteStart(dir, { session: sessionOf(n), program: `shop-${n}` });
  const log = join(folder, readdirSync(folder)[0] ?? '');
  const line = `start ${sessionOf(3)} shop-1\n`;
  appendFileSync(log, line.repeat(mostLogBytes / line.length));
  const before = readStarts(dir);
  for (let n = 0; n < 100; n++) noteStart(dir, { session: sessionOf(n), program: 'shop-1' });
  noteEnd(dir, { bundle, program: 'shop-1' });
  assert.deepEqual(
    readStarts(dir),
    before.map((one) => (one.program === 'shop-1' ? { ...one, isAtLeast: true } : one)),
  );
  assert.ok(statSync(log).size < mostLogBytes + 100);
  assert.equal(programsOf(dir)({ name: bundle, session: undefined }), 'shop-1');
});
