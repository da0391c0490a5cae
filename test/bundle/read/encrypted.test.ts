/** Age files against three implementations: ours, the npm package of age's author, and Debian's `age` if it is installed. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { decryptBundle, encryptBundle } from '../../../src/bundle/finished/pack-encrypted.ts';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { type Keys, openAgeWindow, readIdentities } from '../../../src/bundle/read/age.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { AgeStream } from '../../../src/bundle/write/age-encrypt.ts';
import { type Lock, readBech32, readLock, readRecipient } from '../../../src/bundle/write/age-key.ts';
import { type StartOptions, startBundle } from '../../../src/bundle/write/writer.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { synthTrigger, writeSynthBundle } from '../../support/synth/synth-bundle.ts';
import { scratchFolder, smallDisk } from '../scratch-folder.ts';

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const lock = readLock(recipient);
const keys: Keys = { identities: readIdentities(`# created: today\n${identity}\n`) };
const passphraseLock: Lock = { kind: 'passphrase', passphrase: 'open sesame', workFactor: 10 };
const base = { program: 'p', verdictKind: 'exit', writer: '0.1.0', lock };
const clearText = 'a clear text that must never be seen';

function encrypt(bytes: Uint8Array, using: Lock, pieces = bytes.length || 1): Buffer {
  const chunks: Uint8Array[] = [];
  const stream = new AgeStream((chunk) => chunks.push(Uint8Array.from(chunk)), using);
  for (let at = 0; at < bytes.length; at += pieces) stream.write(bytes.subarray(at, at + pieces));
  stream.end();
  return Buffer.concat(chunks);
}

function decrypt(sealed: Uint8Array, using: Keys): Buffer {
  const bytes = Buffer.from(sealed);
  const window = openAgeWindow(
    { size: bytes.length, read: (target, at) => bytes.copy(target, 0, at), close: () => {} },
    using,
    'memory',
  );
  const plain = Buffer.alloc(window.size);
  assert.equal(window.read(plain, 0), window.size);
  return plain;
}

const sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000];
const sample = (size: number) =>
  Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

test('ours reads ours, at every size and in every piece', () => {
  for (const size of sizes) {
    const plain = sample(size);
    for (const pieces of [7919, 65_536, 1_000_000])
      assert.deepEqual(decrypt(encrypt(plain, lock, pieces), keys), plain);
  }
  assert.deepEqual(decrypt(encrypt(sample(10), lock, 1), keys), sample(10));
  assert.deepEqual(
    decrypt(encrypt(sample(10), passphraseLock), { identities: [], passphrase: 'open sesame' }),
    sample(10),
  );
});

test('the reference in JavaScript reads ours, and ours reads its', async () => {
  for (const size of sizes) {
    const plain = sample(size);
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    assert.deepEqual(Buffer.from(await decrypter.decrypt(encrypt(plain, lock))), plain);
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(await generateX25519Identity()));
    encrypter.addRecipient(recipient);
    assert.deepEqual(decrypt(await encrypter.encrypt(plain), keys), plain);
  }
  const decrypter = new Decrypter();
  decrypter.addPassphrase('open sesame');
  assert.deepEqual(Buffer.from(await decrypter.decrypt(encrypt(sample(99), passphraseLock))), sample(99));
  const encrypter = new Encrypter();
  encrypter.setPassphrase('open sesame');
  encrypter.setScryptWorkFactor(10);
  const theirs = await encrypter.encrypt(sample(99));
  assert.deepEqual(decrypt(theirs, { identities: [], passphrase: 'open sesame' }), sample(99));
});

const hasAge = !spawnSync('age', ['--version']).error;

test('Debian’s age reads ours, and ours reads its', { skip: !hasAge && 'no age here' }, (t) => {
  const dir = scratchFolder(t);
  const keyFile = join(dir, 'key.txt');
  writeFileSync(keyFile, `${identity}\n`);
  for (const size of sizes) {
    const sealed = encrypt(sample(size), lock);
    assert.deepEqual(execFileSync('age', ['-d', '-i', keyFile], { input: sealed }), sample(size));
    const theirs = execFileSync('age', ['-r', recipient], { input: sample(size) });
    assert.deepEqual(decrypt(theirs, keys), sample(size));
  }
});

test('a wrong key does not open it, and no key at all says so', async (t) => {
  const other = { identities: readIdentities(await generateX25519Identity()) };
  const sealed = encrypt(sample(100), lock);
  assert.throws(() => decrypt(sealed, other), { code: 'locked' });
  assert.throws(() => decrypt(sealed, { identities: [], passphrase: 'x' }), { code: 'locked' });
  const locked = encrypt(sample(100), passphraseLock);
  assert.throws(() => decrypt(locked, { identities: [], passphrase: 'open sesam' }), { code: 'locked' });
  assert.throws(() => decrypt(locked, keys), { code: 'locked' });
  const path = writeEncrypted(t);
  assert.throws(() => openBundle(path), { code: 'locked' });
  assert.throws(() => openBundle(path, other), { code: 'locked' });
});

test('flips and cuts are refused', () => {
  const plain = sample(70_000);
  const sealed = encrypt(plain, lock);
  const at = fc.nat(sealed.length - 1);
  const isRefused = (bytes: Buffer) => {
    try {
      decrypt(bytes, keys);
      return false;
    } catch (error) {
      assert.match((error as { code: string }).code, /malformed-input|locked/);
      return true;
    }
  };
  fc.assert(
    fc.property(at, fc.integer({ min: 1, max: 255 }), (offset, mask) => {
      const flipped = Buffer.from(sealed);
      flipped[offset]! ^= mask;
      return isRefused(flipped);
    }),
    { numRuns: fuzzRuns(300), examples: Array.from({ length: 220 }, (_, i) => [i, 1]) },
  );
  fc.assert(
    fc.property(at, (length) => isRefused(sealed.subarray(0, length))),
    { numRuns: fuzzRuns(100) },
  );
  assert.ok(isRefused(Buffer.concat([sealed, Buffer.from([0])])));
  const header = sealed.length - 70_000 - 2 * 16;
  assert.ok(isRefused(sealed.subarray(0, header + 65_536 + 16)), 'cut between two chunks');
});

test('a hostile header is refused before it costs anything', () => {
  const version = 'age-encryption.org/v1\n';
  const salt = 'AAAAAAAAAAAAAAAAAAAAAA';
  const body = 'A'.repeat(43);
  const scrypt = (factor: string) => `${version}-> scrypt ${salt} ${factor}\n${body}\n--- ${body}\n`;
  const open = (text: string) => decrypt(Buffer.from(text), { ...keys, passphrase: 'x' });
  assert.throws(() => open(scrypt('30')), { code: 'over-limit' });
  for (const factor of ['0', '-1', '1e3', '018', '', '999'])
    assert.throws(() => open(scrypt(factor)), { code: 'malformed-input' }, factor);
  assert.throws(() => open(`${version}-> X25519 ${'A'.repeat(43)}\n${body}\n--- ${body}\n`), {
    code: 'malformed-input',
  });
  assert.throws(() => open(version + '-> x\n\n'.repeat(300)), { code: 'malformed-input' });
  assert.throws(() => open(version + 'A'.repeat(1_000_000)), { code: 'malformed-input' });
  assert.throws(() => open(version), { code: 'malformed-input' });
});

test('what locks: recipients, a file of them, a passphrase', (t) => {
  const file = join(scratchFolder(t), 'recipients.txt');
  writeFileSync(file, `# team\n${recipient}\n\n${recipient}\n`);
  assert.equal((readLock(file) as { publicKeys: unknown[] }).publicKeys.length, 2);
  assert.deepEqual(readLock(`${recipient}, ${recipient}`), readLock(file));
  assert.deepEqual(readLock('passphrase: a b '), { kind: 'passphrase', passphrase: ' a b' });
  const wrong = [
    '',
    'passphrase:',
    '/nonexistent',
    'age1',
    recipient.slice(0, -1),
    identity,
    'age1pq1abc',
    '/dev/null',
  ];
  for (const text of wrong) assert.throws(() => readLock(text), { code: 'usage' }, text);
  for (const text of ['', 'AGE-SECRET-KEY-1', recipient, '# only\n'])
    assert.throws(() => readIdentities(text), { code: 'usage' }, text);
  // Changing one letter never yields another valid key.
  fc.assert(
    fc.property(
      fc.nat(recipient.length - 1),
      fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l'),
      (at, char) => {
        const text = recipient.slice(0, at) + char + recipient.slice(at + 1);
        return text === recipient || readBech32(text, 'age') === undefined;
      },
    ),
  );
  assert.equal(readRecipient(recipient).length, 32);
});

function writeEncrypted(t: TestContext, options: Partial<StartOptions> = {}): string {
  const writer = startBundle({ ...base, dir: scratchFolder(t), ...options });
  writer.writePart('trigger.json', JSON.stringify(synthTrigger));
  for (let i = 0; i < 9; i++) writer.writePart(`sources/${i}.js`, `${clearText} ${i}`.repeat(i * 100));
  const heap = writer.openPart('heap.heapsnapshot.gz');
  const reused = Buffer.alloc(10_000);
  for (let i = 0; i < 30; i++) {
    sample(10_000).copy(reused);
    heap.write(reused);
    reused.fill(0);
  }
  heap.close();
  assert.equal(Buffer.from(writer.readBack('sources/1.js')!).toString(), `${clearText} 1`.repeat(100));
  writer.writePart('error.json', clearText);
  writer.dropPart('error.json', 'the canary was in it');
  return writer.seal();
}

test('a bundle that is written locked is on the disk locked only, and opens with the key', (t) => {
  const pairs: [Lock, Keys][] = [
    [lock, keys],
    [passphraseLock, { identities: [], passphrase: 'open sesame' }],
  ];
  for (const [using, opener] of pairs) {
    const dir = join(scratchFolder(t), 'dumps');
    const path = writeEncrypted(t, { dir, lock: using });
    assert.deepEqual(readdirSync(dir), [path.slice(dir.length + 1), 'ledger']);
    assert.match(path, /\.agentdump\.zip\.age$/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(lstatSync(dir).mode & 0o777, 0o700);
    assert.ok(!readFileSync(path).includes(clearText));
    assert.equal(listBundles(dir)[0]?.state, 'encrypted');
    const bundle = openBundle(path, opener);
    assert.ok(bundle.sealed && bundle.packed);
    assert.equal(bundle.parts.length, 11);
    assert.equal(bundle.readPart('sources/3.js')?.toString(), `${clearText} 3`.repeat(300));
    assert.deepEqual(bundle.gaps, [{ part: 'error.json', reason: 'the canary was in it' }]);
    const heap = bundle.openPartFile('heap.heapsnapshot.gz')!;
    assert.equal(heap.bytes, 300_000);
    assert.equal(heap.file, undefined);
    const found: Buffer[] = [];
    for (const chunk of heap.chunks(7777)) found.push(Buffer.from(chunk));
    assert.deepEqual(Buffer.concat(found), Buffer.concat(Array.from({ length: 30 }, () => sample(10_000))));
    bundle.close();
    assert.equal(verifyBundle(path, { keys: opener }).verdict, 'whole');
  }
});

test('at every instant the file on the disk opens, and has what was written by then', (t) => {
  const dir = scratchFolder(t);
  const writer = startBundle({ ...base, dir });
  const counts: number[] = [];
  for (let i = 0; i < 20; i++) {
    writer.writePart(i ? `sources/${i}.js` : 'trigger.json', '{"a":1}');
    const bundle = openBundle(writer.path, keys);
    assert.equal(bundle.sealed, false);
    for (const part of bundle.parts) assert.equal(bundle.readPart(part.name)?.toString(), '{"a":1}');
    counts.push(bundle.parts.length);
    bundle.close();
  }
  assert.deepEqual(counts.slice(0, 9), [1, 2, 2, 4, 4, 4, 4, 8, 8]);
  writer.dropPart('sources/1.js', 'no');
  const bundle = openBundle(writer.path, keys);
  assert.equal(bundle.parts.length, 19);
  bundle.close();
  writer.discard();
  assert.deepEqual(readdirSync(dir), []);
});

test('a full disk is given what fits, and never a clear byte', (t) => {
  const dir = smallDisk(t, 128);
  if (!dir) return t.skip('cannot mount a small disk here');
  const writer = startBundle({ ...base, dir });
  assert.ok(writer.writePart('trigger.json', '{}'));
  const random = Buffer.from(Array.from({ length: 200_000 }, () => Math.random() * 256));
  assert.ok(writer.writePart('report.json', random));
  const bundle = openBundle(writer.seal(), keys);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name !== 'ledger'),
    [basename(writer.path)],
  );
  assert.deepEqual(
    bundle.parts.map((part) => part.name),
    ['trigger.json'],
  );
  assert.deepEqual(bundle.gaps, [{ part: 'report.json', reason: 'ENOSPC' }]);
  bundle.close();
});

test('encrypt and decrypt of what is on the disk', (t) => {
  const dir = scratchFolder(t);
  const folder = writeSynthBundle(dir, {
    parts: { 'trigger.json': synthTrigger, 'sources/0.js': clearText },
  });
  const sealed = encryptBundle(folder, lock);
  assert.equal(sealed.path, `${folder}.zip.age`);
  assert.equal(verifyBundle(sealed.path, { keys }).verdict, 'whole');
  assert.throws(() => encryptBundle(folder, lock), { code: 'unwritable' });
  assert.throws(() => encryptBundle(sealed.path, lock), { code: 'locked' });
  const clear = decryptBundle(sealed.path, keys);
  assert.equal(clear.path, `${folder}.zip`);
  assert.equal(verifyBundle(clear.path).verdict, 'whole');
  mkdirSync(join(dir, 'other'));
  const again = encryptBundle(clear.path, passphraseLock, { output: join(dir, 'other', 'b.age') });
  assert.throws(() => decryptBundle(again.path, keys, { output: join(dir, 'other', 'c') }), {
    code: 'locked',
  });
  assert.deepEqual(readdirSync(join(dir, 'other')), ['b.age']);
  const opened = openBundle(again.path, { identities: [], passphrase: 'open sesame' });
  assert.equal(opened.readPart('sources/0.js')?.toString(), clearText);
  opened.close();
  assert.throws(() => decryptBundle(clear.path, keys), { code: 'usage' });
  const torn = readFileSync(sealed.path);
  writeFileSync(join(dir, 'torn.age'), torn.subarray(0, torn.length - 3));
  assert.throws(() => decryptBundle(join(dir, 'torn.age'), keys), { code: 'malformed-input' });
  assert.throws(() => openBundle(join(dir, 'torn.age'), keys), { code: 'not-a-bundle' });
});
