import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyRetention } from '../../src/bundle/retention.ts';
import { startBundle } from '../../src/bundle/writer.ts';
import { synthStem, writeSynthBundle } from '../support/synth-bundle.ts';
import { scratchFolder } from './scratch-folder.ts';

const long = 365 * 86_400;
const nameOf = (year: number, suffix = '.agentdump') => synthStem.replace('2026', String(year)) + suffix;
const heavy = { 'trigger.json': {}, 'sources/0.js': 'x'.repeat(10_000) };

function makeYears(dir: string, years: number[], suffix?: string): string[] {
  const names = years.map((year) => nameOf(year, suffix));
  for (const name of names)
    writeSynthBundle(dir, { name, parts: heavy, isPartial: name.endsWith('.partial') });
  return names;
}

function age(path: string): void {
  const then = Date.now() / 1000 - long;
  if (statSync(path).isDirectory())
    for (const name of readdirSync(path)) utimesSync(join(path, name), then, then);
  utimesSync(path, then, then);
}

test('the oldest go first, the newest never', (t) => {
  const dir = scratchFolder(t);
  const names = makeYears(dir, [2021, 2022, 2023, 2024, 2025]);
  const byCount = applyRetention({ dir, maxBundles: 3, maxBytes: 1e9 });
  assert.deepEqual(byCount.removed, names.slice(0, 2));
  assert.equal(byCount.bundles, 3);
  assert.ok(byCount.freedBytes > 20_000);
  const byBytes = applyRetention({ dir, maxBundles: 3, maxBytes: 25_000 });
  assert.deepEqual(byBytes.removed, names.slice(2, 3));
  assert.ok(byBytes.bytes <= 25_000);
  assert.deepEqual(applyRetention({ dir, maxBundles: 0, maxBytes: 0 }).removed, names.slice(3, 4));
  assert.deepEqual(readdirSync(dir), names.slice(4));
  assert.deepEqual(applyRetention({ dir, maxBundles: 0, maxBytes: 0 }).removed, []);
});

test('a dry run names the same and removes nothing', (t) => {
  const dir = scratchFolder(t);
  const names = makeYears(dir, [2021, 2022, 2023]);
  const limits = { dir, maxBundles: 1, maxBytes: 1e9 };
  const dry = applyRetention({ ...limits, dryRun: true });
  assert.deepEqual(dry.removed, names.slice(0, 2));
  assert.deepEqual(readdirSync(dir), names);
  assert.deepEqual(applyRetention(limits), dry);
});

test('the one that was just written stays, whatever its name says of its age', (t) => {
  const dir = scratchFolder(t);
  const names = makeYears(dir, [2021, 2022, 2023]);
  applyRetention({ dir, maxBundles: 1, maxBytes: 1e9, keep: join(dir, names[0]!) });
  assert.deepEqual(readdirSync(dir), names.slice(0, 1));
});

test('packed and encrypted bundles count too', (t) => {
  const dir = scratchFolder(t);
  for (const [year, suffix] of [
    [2021, '.agentdump.zip'],
    [2022, '.agentdump.zip.age'],
    [2023, '.agentdump.zip'],
  ] as const)
    writeFileSync(join(dir, nameOf(year, suffix)), 'x'.repeat(1000));
  const result = applyRetention({ dir, maxBundles: 10, maxBytes: 1500 });
  assert.equal(result.removed.length, 2);
  assert.equal(result.freedBytes, 2000);
});

test('what is no bundle is not touched, and no link is followed', (t) => {
  const top = scratchFolder(t);
  const dir = join(top, 'dumps');
  mkdirSync(join(top, 'precious'), { recursive: true });
  writeFileSync(join(top, 'precious', 'manifest.json'), '{}');
  mkdirSync(dir);
  mkdirSync(join(dir, 'journals'));
  writeFileSync(join(dir, 'signatures.log'), 'x');
  mkdirSync(join(dir, nameOf(2001)));
  writeFileSync(join(dir, nameOf(2001), 'thesis.tex'), 'x');
  writeFileSync(join(dir, nameOf(2002)), 'a file where a folder should be');
  mkdirSync(join(dir, nameOf(2003, '.agentdump.zip')));
  symlinkSync(join(top, 'precious'), join(dir, nameOf(2004)));
  mkdirSync(join(dir, `prefix-${nameOf(2005)}`));
  const before = readdirSync(dir);
  const [older, newer] = makeYears(dir, [2025, 2026]);
  symlinkSync(join(top, 'precious'), join(dir, older!, 'link'));
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 0 }).removed, [older]);
  assert.deepEqual(readdirSync(dir), [...before, newer].sort());
  assert.equal(readFileSync(join(top, 'precious', 'manifest.json'), 'utf8'), '{}');
});

test('a partial bundle goes when it is stale, not while it may be written', (t) => {
  const dir = scratchFolder(t);
  const [fresh, stale] = makeYears(dir, [2021, 2022], '.agentdump.partial');
  const [newest] = makeYears(dir, [2026]);
  age(join(dir, stale!));
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1e9 }).removed, [stale]);
  assert.deepEqual(readdirSync(dir), [fresh, newest]);
});

test('a partial bundle whose last write has a later time than the clock tells may still be written', (t) => {
  const dir = scratchFolder(t);
  const [fresh] = makeYears(dir, [2021], '.agentdump.partial');
  const [newest] = makeYears(dir, [2026]);
  const ahead = Date.now() / 1000 + 30;
  utimesSync(join(dir, fresh!), ahead, ahead);
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1e9 }).removed, []);
  assert.deepEqual(readdirSync(dir), [fresh, newest]);
});

test('left-overs of killed writers and killed removals are swept', (t) => {
  const dir = scratchFolder(t);
  for (const year of [2021, 2022]) mkdirSync(join(dir, nameOf(year, '.agentdump.starting')));
  age(join(dir, nameOf(2021, '.agentdump.starting')));
  writeSynthBundle(dir, { name: nameOf(2023, '.agentdump.removed'), parts: heavy });
  for (const name of [
    nameOf(2020, '.agentdump.zip.unfinished'),
    nameOf(2020, '.agentdump.zip.age.unfinished'),
  ]) {
    writeFileSync(join(dir, name), 'x');
    age(join(dir, name));
  }
  applyRetention({ dir, maxBundles: 10, maxBytes: 1e9 });
  assert.deepEqual(readdirSync(dir), [nameOf(2022, '.agentdump.starting')]);
});

test('a folder that is not there, or is a file, holds nothing', (t) => {
  const dir = join(scratchFolder(t), 'none');
  const nothing = { removed: [], freedBytes: 0, bundles: 0, bytes: 0 };
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1 }), nothing);
  writeFileSync(dir, '');
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1 }), nothing);
});

test('a crash loop comes to rest at the limits', (t) => {
  const dir = scratchFolder(t);
  for (let i = 0; i < 60; i++) {
    const writer = startBundle({ dir, program: 'loop', verdictKind: 'exit', writer: '1' });
    writer.writePart('trigger.json', 'x'.repeat(10_000));
    const keep = i % 3 ? writer.seal() : writer.path;
    applyRetention({ dir, maxBundles: 5, maxBytes: 1e9, keep });
    for (const name of readdirSync(dir).filter((each) => each.endsWith('.partial'))) age(join(dir, name));
  }
  const bundles = readdirSync(dir).filter((name) => name.includes('.agentdump'));
  assert.ok(bundles.length <= 6, bundles.join());
});
