import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { unpackBundle } from '../../../src/bundle/finished/unpack.ts';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { openBundle, openPackedBundle } from '../../../src/bundle/read/reader.ts';
import { renderVerification } from '../../../src/report/verification.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { synthFiles, synthTrigger, writeSynthBundle } from '../../support/synth/synth-bundle.ts';
import { type SynthEntry, synthZip } from '../../support/synth/synth-zip.ts';
import { scratchFolder, smallDisk } from '../scratch-folder.ts';

const parts = {
  'trigger.json': synthTrigger,
  'error.json': { error: { type: 'object', isError: true, message: 'x'.repeat(500) } },
  'sources/0.js': 'const a = 1;\n',
  'heap.heapsnapshot.gz': Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) & 0xff)),
};

function entriesOf(files: Map<string, Buffer>, folder = ''): SynthEntry[] {
  return [...files].map(([name, content]) => ({ name: folder + name, content, method: 8 }));
}

function inMemory(bytes: Buffer) {
  return openPackedBundle('memory.zip', {
    size: bytes.length,
    read: (target, position) => bytes.copy(target, 0, position),
    close: () => {},
  });
}

function readAll(path: string): Record<string, string> {
  const bundle = openBundle(path);
  const found = bundle.parts.map((part) => [part.name, bundle.readPart(part.name)!.toString('latin1')]);
  assert.deepEqual(bundle.gaps, []);
  bundle.close();
  return Object.fromEntries(found);
}

test('packed, read in place, unpacked: the same parts', (t) => {
  const dir = scratchFolder(t);
  const folder = writeSynthBundle(dir, { parts });
  const packed = packBundle(folder);
  assert.equal(packed.path, `${folder}.zip`);
  assert.equal(packed.bytes, statSync(packed.path).size);
  assert.equal(statSync(packed.path).mode & 0o777, 0o600);
  assert.deepEqual(packed.leftOut, []);
  const before = readAll(folder);
  assert.deepEqual(readAll(packed.path), before);
  assert.equal(verifyBundle(packed.path).verdict, 'whole');
  assert.throws(() => unpackBundle(packed.path), { code: 'unwritable' });
  const elsewhere = join(dir, 'elsewhere');
  const unpacked = unpackBundle(packed.path, { output: elsewhere });
  assert.equal(unpacked.path, join(elsewhere, basename(folder)));
  assert.deepEqual(readAll(unpacked.path), before);
  assert.equal(statSync(join(unpacked.path, 'sources')).mode & 0o777, 0o700);
  assert.equal(packBundle(unpacked.path).bytes, packed.bytes);
  assert.deepEqual(readFileSync(`${unpacked.path}.zip`), readFileSync(packed.path));
  assert.throws(() => packBundle(folder), { code: 'unwritable', message: /EEXIST/ });
  assert.throws(() => packBundle(packed.path), { code: 'usage' });
  assert.throws(() => unpackBundle(folder), { code: 'usage' });
});

test('a torn bundle packs and stays torn', (t) => {
  const dir = scratchFolder(t);
  const folder = writeSynthBundle(dir, { parts, isPartial: true });
  const { path } = packBundle(folder);
  assert.equal(path, `${folder.replace('.partial', '')}.zip`);
  const bundle = openBundle(path);
  assert.equal(bundle.sealed, false);
  assert.equal(bundle.parts.length, 4);
  bundle.close();
  assert.equal(verifyBundle(path).verdict, 'torn');
  const unpacked = unpackBundle(path, { output: join(dir, 'there') });
  assert.ok(unpacked.path.endsWith('.agentdump.partial'));
});

test('a big part is stored and can be read through its descriptor', (t) => {
  const big = Buffer.alloc(33 * 1024 * 1024, 'abcdefgh');
  const folder = writeSynthBundle(scratchFolder(t), { parts: { 'trigger.json': '{}', 'report.json': big } });
  const { path } = packBundle(folder);
  const bundle = openBundle(path);
  const file = bundle.openPartFile('report.json')!;
  assert.equal(file.bytes, big.length);
  assert.ok(file.file && file.file.start > 0);
  let at = 0;
  for (const chunk of file.chunks()) {
    assert.ok(big.subarray(at, at + chunk.length).equals(chunk));
    at += chunk.length;
  }
  assert.equal(at, big.length);
  bundle.close();
  assert.equal(verifyBundle(path).verdict, 'whole');
});

test('what is no part is not packed', (t) => {
  const folder = writeSynthBundle(scratchFolder(t), { parts });
  writeFileSync(join(folder, 'notes.txt'), 'x');
  writeFileSync(join(folder, '.hidden'), 'x');
  assert.deepEqual(packBundle(folder).leftOut.sort(), ['.hidden', 'notes.txt']);
});

test('a full disk leaves no half of a packed bundle', (t) => {
  const disk = smallDisk(t, 128);
  if (!disk) return t.skip('cannot mount a small disk here');
  const random = Buffer.from(Array.from({ length: 200_000 }, () => Math.random() * 256));
  const folder = writeSynthBundle(scratchFolder(t), {
    parts: { 'trigger.json': '{}', 'report.json': random },
  });
  assert.throws(() => packBundle(folder, { output: join(disk, 'x.agentdump.zip') }), { code: 'unwritable' });
  assert.deepEqual(readdirSync(disk), []);
  const { path } = packBundle(folder);
  assert.throws(() => unpackBundle(path, { output: disk }), { code: 'unwritable' });
  assert.deepEqual(readdirSync(disk), []);
});

const hasUnzip = !spawnSync('unzip', ['-v']).error;
const hasZip = !spawnSync('zip', ['-v']).error;

test('Info-ZIP reads what we pack', { skip: !hasUnzip && 'no unzip here' }, (t) => {
  const dir = scratchFolder(t);
  const { path } = packBundle(writeSynthBundle(dir, { parts }));
  execFileSync('unzip', ['-qq', '-t', path]);
  execFileSync('unzip', ['-qq', '-d', join(dir, 'out'), path]);
  const [name] = readdirSync(join(dir, 'out'));
  assert.equal(verifyBundle(join(dir, 'out', name!)).verdict, 'whole');
});

test('we read what Info-ZIP packs, with and without the folder', { skip: !hasZip && 'no zip here' }, (t) => {
  const dir = scratchFolder(t);
  const folder = writeSynthBundle(dir, { parts });
  execFileSync('zip', ['-qr', 'with.zip', basename(folder)], { cwd: dir });
  execFileSync('zip', ['-qr', '../without.zip', '.'], { cwd: folder });
  execFileSync('sh', ['-c', `cd '${folder}' && zip -qr - . | cat > ../piped.zip`]);
  for (const name of ['with.zip', 'without.zip', 'piped.zip']) {
    assert.deepEqual(readAll(join(dir, name)), readAll(folder), name);
    assert.equal(verifyBundle(join(dir, name)).verdict, 'whole');
  }
});

function assertRefused(zip: Buffer, pattern: RegExp): void {
  assert.throws(() => inMemory(zip), { code: 'not-a-bundle', message: pattern });
}

function assertPartRefused(name: string, entry: Partial<SynthEntry>, pattern: RegExp): void {
  const entries = entriesOf(synthFiles({ parts })).map((e) => (e.name === name ? { ...e, ...entry } : e));
  const bundle = inMemory(synthZip(entries));
  assert.equal(bundle.readPart(name), undefined);
  assert.match(bundle.gaps.map((gap) => `${gap.part}: ${gap.reason}`).join('\n'), pattern);
  assert.ok(bundle.readPart('trigger.json'));
}

test('a directory that lies costs the whole file', () => {
  const entries = entriesOf(synthFiles({ parts }));
  const whole = synthZip(entries);
  assert.equal(inMemory(whole).parts.length, 4);
  assert.equal(inMemory(synthZip(entries, { comment: 'PK\u0005\u0006 a comment' })).parts.length, 4);
  assertRefused(Buffer.from('no zip at all'), /no zip file, or cut short/);
  assertRefused(Buffer.alloc(0), /no zip file, or cut short/);
  assertRefused(whole.subarray(0, -1), /cut short/);
  assertRefused(Buffer.concat([whole, Buffer.from('x')]), /cut short/);
  assertRefused(synthZip(entries, { end: { disk: 1 } }), /several volumes/);
  assertRefused(synthZip(entries, { end: { entriesHere: 1 } }), /several volumes/);
  assertRefused(synthZip(entries, { end: { entries: 0xffff } }), /zip64/);
  assertRefused(synthZip(entries, { end: { offset: 0xffffffff } }), /zip64/);
  assertRefused(synthZip(entries, { end: { entries: 60_000, entriesHere: 60_000 } }), /do not fit/);
  assertRefused(synthZip(entries, { end: { entries: 4, entriesHere: 4 } }), /longer than its entries/);
  assertRefused(synthZip(entries, { end: { size: 4_000_000_000 } }), /not where its end record says/);
  assertRefused(synthZip(entries, { end: { offset: 1 } }), /not where its end record says/);
  assertRefused(synthZip(entries, { prefix: Buffer.from('#!/bin/sh\n'), end: { offset: 0 } }), /not where/);
  assertRefused(synthZip(entries.map((e) => ({ ...e, localOffset: 0 }))), /overlap/);
  assertRefused(synthZip([{ ...entries[0]!, localOffset: 0xfffffff0 }]), /overlap/);
  const long = { ...entries[0]!, lies: { nameLength: 0xffff } };
  assertRefused(synthZip([long]), /beyond the directory/);
  const tooMany = Array.from({ length: 10_001 }, (_, i) => ({ name: `a${i}`, content: Buffer.alloc(0) }));
  assertRefused(synthZip(tooMany), /more than 10000/);
});

test('an entry that lies costs that entry', () => {
  const name = 'error.json';
  assertPartRefused(name, { lies: { crc: 1 } }, /CRC-32 is another/);
  assertPartRefused(name, { localLies: { name: 'other.json' } }, /name it differently/);
  assertPartRefused(name, { localLies: { method: 0 } }, /differ on how it is packed/);
  assertPartRefused(name, { localLies: { uncompressedSize: 1 } }, /differ on its size/);
  assertPartRefused(name, { lies: { method: 99 } }, /packed by method 99/);
  assertPartRefused(name, { lies: { flags: 0x801 } }, /encrypted/);
  assertPartRefused(name, { lies: { uncompressedSize: 10 } }, /does not inflate to the size/);
  assertPartRefused(name, { lies: { uncompressedSize: 100_000 } }, /inflates to less/);
  assertPartRefused(name, { method: 0, lies: { uncompressedSize: 3 } }, /stored with two sizes/);
  assertPartRefused(name, { mode: 0o120777, content: Buffer.from('/etc/passwd') }, /link or another special/);
  assertPartRefused(name, { mode: 0o010600 }, /link or another special/);
  assertPartRefused(name, { content: Buffer.alloc(100_000_000) }, /decompression bomb/);
  assertPartRefused(name, { lies: { uncompressedSize: 0xfffffff0 } }, /decompression bomb/);
  assertPartRefused(name, { localLies: { extraLength: 0xffff } }, /reaches into the directory/);
});

test('a name that is no part’s is never a path', (t) => {
  const dir = scratchFolder(t);
  const evil = [
    '../../evil',
    '/evil',
    'a\\..\\evil',
    'sources/../evil',
    'evil\u0000.js',
    'C:evil',
    './x',
    'a/b/c',
  ];
  const files = new Map(synthFiles({ parts }));
  for (const name of evil) files.set(name, Buffer.from('x'));
  const path = join(dir, 'bad.agentdump.zip');
  writeFileSync(path, synthZip(entriesOf(files)));
  const bundle = openBundle(path);
  assert.equal(bundle.parts.length, 4);
  for (const name of evil) assert.ok(bundle.source.refused.has(name), name);
  bundle.close();
  const unpacked = unpackBundle(path, { output: join(dir, 'a', 'b') });
  assert.deepEqual(unpacked.leftOut.sort(), [...evil].sort());
  assert.deepEqual(readdirSync(dir).sort(), ['a', 'bad.agentdump.zip']);
  assert.equal(verifyBundle(path).verdict, 'altered');
});

test('unpack of a bomb: nothing is written, and the reason is an error', (t) => {
  const dir = scratchFolder(t);
  const path = join(dir, 'bomb.agentdump.zip');
  const output = join(dir, 'out');
  const bomb = { name: 'error.json', content: Buffer.alloc(20_000_000) };
  const rest = entriesOf(synthFiles({ parts: { 'trigger.json': synthTrigger } }));
  writeFileSync(path, synthZip([...rest, { ...bomb, method: 8 }]));
  const error = { code: 'malformed-input', message: /error\.json was refused, .* decompression bomb/ };
  assert.throws(() => unpackBundle(path, { output }), error);
  assert.deepEqual(readdirSync(dir), ['bomb.agentdump.zip']);
  // Each is smaller than the size from which an entry counts as a bomb, but together they are one.
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`sources/${i}.js`, Buffer.alloc(4_000_000)]),
  );
  const files = synthFiles({ parts: { 'trigger.json': synthTrigger, ...many } });
  writeFileSync(path, synthZip(entriesOf(files).map((entry) => ({ ...entry, method: 8 }))));
  assert.throws(() => unpackBundle(path, { output }), {
    code: 'over-limit',
    message: /claims to hold 16\d{7}/,
  });
  assert.deepEqual(readdirSync(dir), ['bomb.agentdump.zip']);
});

test('two entries of one name are neither', () => {
  const entries = entriesOf(synthFiles({ parts }));
  const twice = [...entries, { name: 'error.json', content: Buffer.from('{"other":1}') }];
  const bundle = inMemory(synthZip([...twice, { name: 'error.json', content: Buffer.from('{}') }]));
  assert.equal(bundle.readPart('error.json'), undefined);
  assert.match(JSON.stringify(bundle.gaps), /two entries have this name/);
  assert.equal(bundle.parts.length, 3);
});

test('verify names what was altered, added and taken', (t) => {
  const folder = writeSynthBundle(scratchFolder(t), { parts });
  assert.equal(verifyBundle(folder).verdict, 'whole');
  writeFileSync(join(folder, 'sources/0.js'), 'const a = 2;\n');
  writeFileSync(join(folder, 'extra.json'), '{}');
  renameSync(join(folder, 'error.json'), join(folder, 'error.json.unfinished'));
  const result = verifyBundle(folder);
  assert.equal(result.verdict, 'altered');
  assert.deepEqual(result.extra, ['extra.json']);
  assert.deepEqual(
    result.parts.map((part) => [part.name, part.state]),
    [
      ['trigger.json', 'whole'],
      ['sources/0.js', 'altered'],
      ['heap.heapsnapshot.gz', 'whole'],
      ['error.json', 'missing'],
    ],
  );
});

test('whatever bytes change, the packed reader answers or refuses', () => {
  const zip = synthZip(entriesOf(synthFiles({ parts }), 'x.agentdump/'));
  const original = readInMemory(zip);
  const change = fc.array(fc.tuple(fc.nat(zip.length - 1), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(change, (changes) => {
      const damaged = Buffer.from(zip);
      for (const [at, mask] of changes) damaged[at]! ^= mask;
      const found = readInMemory(damaged);
      for (const [name, text] of Object.entries(found.parts))
        assert.ok(text === original.parts[name] || found.gaps > 0, `${name} changed unseen`);
    }),
    { numRuns: fuzzRuns(1000) },
  );
});

function readInMemory(zip: Buffer): { parts: Record<string, string>; gaps: number } {
  try {
    const bundle = inMemory(zip);
    const found = bundle.parts.map((part) => [part.name, bundle.readPart(part.name)?.toString('latin1')]);
    return {
      parts: Object.fromEntries(found.filter(([, text]) => text !== undefined)),
      gaps: bundle.gaps.length,
    };
  } catch (error) {
    assert.equal((error as { code: string }).code, 'not-a-bundle');
    return { parts: {}, gaps: 1 };
  }
}

test('verify: a part that is a link, a bomb, or a manifest that says nothing is told as that, not as missing or torn', (t) => {
  const linked = writeSynthBundle(scratchFolder(t), { parts });
  renameSync(join(linked, 'error.json'), join(linked, '..', 'aside'));
  symlinkSync('/etc/hostname', join(linked, 'error.json'));
  const ofLink = verifyBundle(linked);
  assert.deepEqual([ofLink.verdict, ofLink.extra], ['altered', []]);
  const link = ofLink.parts.find((part) => part.name === 'error.json');
  assert.equal(link?.state, 'unreadable');
  assert.match(link?.problem ?? '', /link|special|regular/);

  const dir = scratchFolder(t);
  const packed = join(dir, 'a.agentdump.zip');
  const entries = entriesOf(synthFiles({ parts }));
  const withLie = (name: string, lies: NonNullable<SynthEntry['lies']>) =>
    writeFileSync(packed, synthZip(entries.map((one) => (one.name === name ? { ...one, lies } : one))));
  withLie('error.json', { uncompressedSize: 0xfffffff0 });
  const ofBomb = verifyBundle(packed);
  assert.deepEqual(ofBomb.extra, []);
  assert.match(ofBomb.parts.find((part) => part.name === 'error.json')?.problem ?? '', /bomb/);

  withLie('manifest.json', { crc: 1 });
  const torn = verifyBundle(packed);
  assert.equal(torn.verdict, 'altered');
  assert.deepEqual(
    [torn.parts[0]?.name, torn.parts[0]?.state, torn.parts[0]?.problem],
    ['manifest.json', 'unreadable', 'its CRC-32 is another'],
  );
  const said = renderVerification(torn);
  assert.match(said, /^Altered: .*\n.*\nat .*a\.agentdump\.zip\n/);
  assert.match(said, /manifest\.json +unreadable +its CRC-32 is another/);
  assert.match(said, /Restore it from a copy or from the store/);
});

test('unpack of a part that does not fit its sum names file and part, and makes no folder', (t) => {
  const dir = scratchFolder(t);
  const path = join(dir, 'a.agentdump.zip');
  const entries = entriesOf(synthFiles({ parts }));
  writeFileSync(
    path,
    synthZip(entries.map((one) => (one.name === 'error.json' ? { ...one, lies: { crc: 1 } } : one))),
  );
  assert.throws(() => unpackBundle(path, { output: join(dir, 'out') }), {
    code: 'malformed-input',
    message:
      /^nothing was unpacked: error\.json of .*a\.agentdump\.zip can't be read: its CRC-32 is another$/,
  });
  assert.deepEqual(readdirSync(dir), ['a.agentdump.zip']);
});
