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
import { applyRetention } from '../../../src/bundle/keep/retention.ts';
import { noteSignature, readSignatures } from '../../../src/bundle/keep/signature-log.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { synthStem, writeSynthBundle } from '../../support/synth/synth-bundle.ts';
import { scratchFolder } from '../scratch-folder.ts';

const long = 365 * 86_400;
const nameOf = (year: number, suffix = '.agentdump') =>
  synthStem.replace('2026', String(year)).replace('demo', `demo${year}`) + suffix;
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

test('what is noted beside a bundle goes with it', (t) => {
  const dir = scratchFolder(t);
  const [oldest = '', ...others] = [
    ...makeYears(dir, [2021]),
    ...makeYears(dir, [2022], '.agentdump.zip'),
    ...makeYears(dir, [2023]),
  ];
  for (const name of [oldest, ...others]) writeFileSync(join(dir, `${name}.sequel`), '{}');
  const { removed } = applyRetention({ dir, maxBundles: 1, maxBytes: 1e9 });
  assert.deepEqual(removed, [oldest, others[0]]);
  assert.deepEqual(readdirSync(dir), [others[1], `${others[1]}.sequel`]);
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

/** Writes bundles one second apart, one for each word `program-kind`; returns their names, oldest first. */
function makeStory(dir: string, words: readonly string[]): string[] {
  return words.map((each, index) => {
    const id = (index + 1).toString(16).padStart(8, '0');
    const name = `20260101T00${String(Math.floor(index / 60)).padStart(2, '0')}${String(index % 60).padStart(2, '0')}.000Z-${each}-${id}.agentdump`;
    writeSynthBundle(dir, { name, parts: { 'trigger.json': {} } });
    return name;
  });
}

const kindsLeft = (dir: string): string[] =>
  readdirSync(dir).map((name) => name.replace(/^[^-]+-(.*)-[0-9a-f]{8}\.agentdump$/, '$1'));

test('tools that end with an exit code never remove the one crash', (t) => {
  const dir = scratchFolder(t);
  const tools = Array.from({ length: 25 }, (_, index) => `tool${index}-exit`);
  makeStory(dir, ['app-uncaught-exception', ...tools]);
  const { bundles } = applyRetention({ dir, maxBundles: 20, maxBytes: 1e9 });
  assert.equal(bundles, 20);
  assert.deepEqual(kindsLeft(dir), ['app-uncaught-exception', ...tools.slice(6)]);
});

test('of one signature the first and the last stay, and what repeats them goes first, whatever it is', (t) => {
  const dir = scratchFolder(t);
  makeStory(dir, [
    'app-uncaught-exception',
    'tool-exit',
    ...Array(8).fill('app-uncaught-exception'),
    'api-terminated',
  ]);
  assert.equal(applyRetention({ dir, maxBundles: 4, maxBytes: 1e9 }).removed.length, 7);
  assert.deepEqual(kindsLeft(dir), [
    'app-uncaught-exception',
    'tool-exit',
    'app-uncaught-exception',
    'api-terminated',
  ]);
  assert.match(readdirSync(dir)[2] ?? '', /-0000000a\./);
});

test('where firsts and lasts are too many: exits, then signals, then one of a pair, then the oldest', (t) => {
  const dir = scratchFolder(t);
  const story = [
    'a-uncaught-exception',
    'b-event-loop-hang',
    'c-terminated',
    'd-exit',
    'e-pending-exit',
    'b-event-loop-hang',
    'f-snapshot',
    'g-killed',
  ];
  const names = makeStory(dir, story);
  const order = [3, 6, 2, 1, 0, 4, 5].map((index) => names[index]);
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1e9, dryRun: true }).removed, order);
  assert.deepEqual(applyRetention({ dir, maxBundles: 1, maxBytes: 1e9 }).removed, order);
});

test('signatures are those of the log: two crashes of one program are two, also packed, encrypted and torn ones', (t) => {
  const dir = scratchFolder(t);
  // The window ends before now, so that two notes of one millisecond are not repeats either.
  const note = (signature: string): string => noteSignature({ dir, signature, windowMs: -1 }).id ?? '';
  const suffixes = ['', '.partial', '.zip', '.zip.age', '', '', '', ''];
  const signatures = ['other', 'same', 'same', 'same', 'same', 'same', 'alone', 'same'];
  const names = signatures.map((signature, index) => {
    const name = `2026010${index + 1}T000000.000Z-app-uncaught-exception-${note(signature).slice(0, 8)}.agentdump${suffixes[index]}`;
    if (suffixes[index]?.startsWith('.zip')) writeFileSync(join(dir, name), 'opaque');
    else writeSynthBundle(dir, { name, parts: { 'trigger.json': {} }, isPartial: name.endsWith('.partial') });
    age(join(dir, name));
    return name;
  });
  applyRetention({ dir, maxBundles: 4, maxBytes: 1e9 });
  const left = readdirSync(dir).filter((name) => name.startsWith('2026'));
  assert.deepEqual(left, [names[0], names[1], names[6], names[7]]);
});

test('the log is cut, and still knows the signature of a bundle that is there', { skip: onlyWide }, (t) => {
  const dir = scratchFolder(t);
  const { id = '' } = noteSignature({ dir, signature: 'first', windowMs: 0 });
  writeSynthBundle(dir, {
    name: `20260101T000000.000Z-app-uncaught-exception-${id.slice(0, 8)}.agentdump`,
    parts: { 'trigger.json': {} },
  });
  for (let i = 0; i < 3000; i++) noteSignature({ dir, signature: `s${i % 7}`, windowMs: 3_600_000 });
  assert.ok(statSync(join(dir, 'signatures.log')).size <= 65 * 1024);
  assert.ok(readSignatures(dir).has(id.slice(0, 8)));
});

test('hostile words in a log of signatures change nothing but the order', (t) => {
  const dir = scratchFolder(t);
  makeStory(dir, ['app-killed', 'app-exit', 'app-exit', 'app-exit']);
  writeFileSync(
    join(dir, 'signatures.log'),
    `\n${'9'.repeat(13)} ${'a'.repeat(16)} ${'0'.repeat(16)}\n\u0000__proto__ x`,
  );
  applyRetention({ dir, maxBundles: 3, maxBytes: 1e9 });
  assert.deepEqual(kindsLeft(dir).slice(0, 3), ['app-killed', 'app-exit', 'app-exit']);
});
