/** When a dump folder tells a store of its starts, and what it does not tell again. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CountedStarts, noteStart } from '../../src/bundle/keep/starts.ts';
import { startsFolder } from '../../src/bundle/layout/bundle.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { claimTelling, tellStarts, untoldStarts } from '../../src/store/sending/starts.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const place = '/a/store';
const hourMs = 60 * 60_000;
const session = '0'.repeat(16);

function listener(failure?: Error): { heard: CountedStarts[][]; store: FleetStore } {
  const heard: CountedStarts[][] = [];
  const countStarts = async (starts: readonly CountedStarts[]) => {
    heard.push([...starts]);
    if (failure) throw failure;
  };
  return { heard, store: { countStarts } as Partial<FleetStore> as FleetStore };
}

function anHourLater(dir: string): void {
  const folder = join(dir, startsFolder);
  const then = new Date(Date.now() - hourMs - 1000);
  for (const name of readdirSync(folder))
    if (name.startsWith('told-')) utimesSync(join(folder, name), then, then);
}

test('a store is told what is new, each row with all of its day', async (t) => {
  const dir = temporaryFolder(t);
  const { heard, store } = listener();
  const start = (program: string) => noteStart(dir, { session, program });
  await tellStarts(dir, place, store);
  for (const program of ['shop', 'shop', 'other']) start(program);
  await tellStarts(dir, place, store);
  await tellStarts(dir, place, store);
  start('shop');
  await tellStarts(dir, place, store);
  assert.deepEqual(
    heard.map((starts) => starts.map(({ program, count }) => [program, count])),
    [
      [
        ['shop', 2],
        ['other', 1],
      ],
      [['shop', 3]],
    ],
  );
});

test('names are told as a store keeps them, those that it can not tell apart together', async (t) => {
  const dir = temporaryFolder(t);
  const { heard, store } = listener();
  const long = `${'x'.repeat(199)}\u{1f600}`;
  for (const program of [`${long} one`, `${long} two`, 'nul\0']) noteStart(dir, { session, program });
  await tellStarts(dir, place, store);
  assert.deepEqual(
    heard[0]?.map(({ program, count }) => [program, count]),
    [
      [`${'x'.repeat(199)}\ufffd`, 2],
      ['nul\ufffd', 1],
    ],
  );
});

test('a store that is away is tried once an hour, however often programs are started', async (t) => {
  const dir = temporaryFolder(t);
  const start = () => {
    noteStart(dir, { session, program: 'shop' });
    return claimTelling(dir, place, hourMs);
  };
  assert.deepEqual(
    [claimTelling(dir, place, hourMs), start(), start(), start()],
    [false, true, false, false],
  );
  anHourLater(dir);
  assert.deepEqual([start(), start()], [true, false]);
  anHourLater(dir);
  await assert.rejects(tellStarts(dir, place, listener(new Error('away')).store), /away/);
  assert.deepEqual([untoldStarts(dir, place).length, start()], [1, false]);
  anHourLater(dir);
  await tellStarts(dir, place, listener().store);
  anHourLater(dir);
  assert.equal(claimTelling(dir, place, hourMs), false, 'nothing is new');
  assert.equal(start(), true);
});

test('in a folder that can not be written to no sender is started each time', {
  skip: process.getuid?.() === 0 && 'root may write everywhere',
}, (t) => {
  const dir = temporaryFolder(t);
  noteStart(dir, { session, program: 'shop' });
  chmodSync(join(dir, startsFolder), 0o500);
  assert.equal(claimTelling(dir, place, hourMs), false);
  chmodSync(join(dir, startsFolder), 0o700);
});
