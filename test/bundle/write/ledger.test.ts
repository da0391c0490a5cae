import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { verifyLedger, verifyLedgerFile } from '../../../src/bundle/finished/verify-ledger.ts';
import { appendBundle, sealLedger } from '../../../src/bundle/write/ledger.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { scratchFolder } from '../scratch-folder.ts';

const run = promisify(execFile);
const entry = (i: number) => ({ bundle: i.toString(16).padStart(16, '0'), manifest: sha(`manifest ${i}`) });
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

function makeKeys() {
  const pair = generateKeyPairSync('ed25519');
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privateKey, publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

function makeLedger(t: TestContext, count: number) {
  const dir = scratchFolder(t);
  const heads = Array.from({ length: count }, (_, i) => appendBundle(dir, entry(i)));
  const path = join(dir, 'ledger');
  return { dir, path, heads, bytes: readFileSync(path) };
}

const linesOf = (bytes: Buffer) => bytes.toString('latin1').split('\n').slice(0, -1);
const fromLines = (lines: string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');

function assertTampered(bytes: Buffer, at: number, options = {}): void {
  const found = verifyLedger(bytes, options);
  assert.equal(found.verdict, 'tampered', JSON.stringify(found));
  assert.equal(found.tamperedAt, at, found.problem);
}

test('a ledger that nobody touched is consistent, and verified with its head', (t) => {
  const { path, heads, bytes } = makeLedger(t, 5);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const found = verifyLedgerFile(path)!;
  assert.equal(found.verdict, 'unanchored');
  assert.equal(found.records, 6);
  assert.equal(found.head, heads[4]);
  assert.deepEqual(
    found.bundles.map(({ bundle, manifest }) => ({ bundle, manifest })),
    Array.from({ length: 5 }, (_, i) => entry(i)),
  );
  for (const [i, head] of heads.entries()) {
    const anchored = verifyLedger(bytes, { anchor: head });
    assert.equal(anchored.verdict, 'verified');
    assert.equal(anchored.anchored, i + 2);
    assert.equal(verifyLedger(bytes, { anchor: head.split(':')[1]! }).verdict, 'verified');
  }
  assert.equal(verifyLedgerFile(join(path, 'none')), undefined);
});

test('every bit flip is seen', (t) => {
  const { bytes } = makeLedger(t, 3);
  const lineAt = (offset: number) => bytes.subarray(0, offset).toString('latin1').split('\n').length - 1;
  for (let offset = 0; offset < bytes.length; offset++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[offset]! ^= 1 << bit;
      const found = verifyLedger(flipped);
      const isLastNewline = offset === bytes.length - 1;
      assert.equal(found.verdict, isLastNewline ? 'torn-tail' : 'tampered', `byte ${offset} bit ${bit}`);
      if (!isLastNewline) assert.equal(found.tamperedAt, lineAt(offset), `byte ${offset} bit ${bit}`);
    }
  }
});

test('every cut is seen with the anchor; without it a cut inside a line is a torn tail', (t) => {
  const { bytes, heads } = makeLedger(t, 3);
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length);
    assert.equal(verifyLedger(cut, { anchor: heads[2]! }).verdict, 'tampered', `${length}`);
    const found = verifyLedger(cut);
    const lines = cut.toString('latin1').split('\n').length - 1;
    if (lines === 0) assert.equal(found.tamperedAt, 0);
    else assert.equal(found.verdict, cut.at(-1) === 0x0a ? 'unanchored' : 'torn-tail');
  }
  assertTampered(fromLines(linesOf(bytes).slice(0, 3)), 3, { anchor: heads[2] });
});

test('lines swapped, taken out, doubled or put in from another ledger', (t) => {
  const mine = linesOf(makeLedger(t, 5).bytes);
  const other = linesOf(makeLedger(t, 5).bytes);
  const [genesis, ...rest] = mine as [string, ...string[]];
  assertTampered(fromLines([genesis, rest[1]!, rest[0]!, ...rest.slice(2)]), 1);
  assertTampered(fromLines([genesis, ...rest.slice(1)]), 1);
  assertTampered(fromLines([genesis, rest[0]!, rest[0]!, ...rest.slice(1)]), 2);
  assertTampered(fromLines([genesis, ...other.slice(1)]), 0);
  assertTampered(fromLines([...mine.slice(0, 3), other[3]!, ...mine.slice(4)]), 2);
  assertTampered(fromLines([...mine.slice(0, 3), 'a line of nothing', ...mine.slice(3)]), 3);
  assertTampered(fromLines([...mine, other[5]!]), 5);
  assertTampered(fromLines(rest), 0);
  assertTampered(Buffer.alloc(0), 0);
  assertTampered(Buffer.from('\n\n\n'), 0);
});

/** What an attacker can do without a key: rewrite the whole file with consistent hashes and one manifest exchanged. */
function rechain(lines: string[], change: (json: string) => string): Buffer {
  let text = '';
  for (const [i, line] of lines.entries()) {
    const before = createHash('sha256').update(`agentdump.ledger/1 head\0${text}`).digest('hex');
    const json = change(line.slice(65))
      .replace(/"before":"[0-9a-f]{64}"/, `"before":"${before}"`)
      .replace(/"covers":\d+/, `"covers":${text.length}`);
    assert.ok(i === 0 || json.includes(before));
    text += `${sha(`agentdump.ledger/1 line\0${json}`)} ${json}\n`;
  }
  return Buffer.from(text);
}

test('a file written anew is consistent, and no anchor and no key takes it', (t) => {
  const { dir, heads, bytes } = makeLedger(t, 4);
  assert.deepEqual(
    rechain(linesOf(bytes), (json) => json),
    bytes,
    'the test restates the format',
  );
  const forged = rechain(linesOf(bytes), (json) => json.replace(entry(1).manifest, sha('forged')));
  assert.equal(verifyLedger(forged).verdict, 'unanchored');
  assertTampered(forged, 4, { anchor: heads[3] });
  assertTampered(forged, 2, { anchor: heads[1] });
  assert.equal(
    verifyLedger(forged, { anchor: heads[0]! }).verdict,
    'verified',
    'what was before is as it was',
  );
  const keys = makeKeys();
  sealLedger(dir, keys.privateKey);
  const sealed = readFileSync(join(dir, 'ledger'));
  assert.equal(verifyLedger(sealed, keys).verdict, 'verified');
  const resealed = rechain(linesOf(sealed), (json) => json.replace(entry(1).manifest, sha('forged')));
  assert.equal(verifyLedger(resealed).verdict, 'unanchored');
  assertTampered(resealed, 5, keys);
  assert.equal(verifyLedger(fromLines(linesOf(sealed).slice(0, 5)), keys).verdict, 'unanchored');
  assert.match(verifyLedger(forged, keys).problem ?? '', /no line of it is signed/);
});

test('signatures: the right key, a wrong one, one that is none, another ledger’s', (t) => {
  const { dir, path } = makeLedger(t, 2);
  const keys = makeKeys();
  const head = sealLedger(dir, keys.privateKey);
  appendBundle(dir, entry(9));
  const found = verifyLedgerFile(path, keys)!;
  assert.deepEqual([found.verdict, found.anchored, found.records], ['verified', 3, 5]);
  assert.equal(verifyLedgerFile(path, { anchor: head })!.anchored, 4);
  const wrong = verifyLedgerFile(path, makeKeys())!;
  assert.equal(wrong.verdict, 'unanchored');
  assert.match(wrong.problem ?? '', /no line of it is signed/);
  for (const publicKey of ['', 'x', makeKeys().privateKey.slice(0, 40), 'AAAA'])
    assert.throws(() => verifyLedgerFile(path, { publicKey }), { code: 'usage' });
  for (const key of [
    '',
    'x',
    keys.publicKey,
    generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ])
    assert.throws(() => sealLedger(dir, key), { code: 'usage' });
  const raw = JSON.parse(linesOf(readFileSync(path))[3]!.slice(65)).key;
  assert.equal(verifyLedgerFile(path, { publicKey: raw })!.verdict, 'verified');
});

test('another version is neither verified nor taken for tampering', (t) => {
  const { bytes } = makeLedger(t, 1);
  for (const version of ['agentdump.ledger/0', 'agentdump.ledger/2'])
    assert.throws(
      () => verifyLedger(rechain(linesOf(bytes), (json) => json.replace('agentdump.ledger/1', version))),
      {
        code: 'unsupported-version',
      },
    );
});

test('a torn line is a torn tail, and the next writer goes on after it', (t) => {
  const { dir, path, bytes } = makeLedger(t, 2);
  const whole = linesOf(bytes).at(-1)!;
  for (const length of [1, 64, 65, 70, whole.length]) {
    writeFileSync(path, bytes);
    appendFileSync(path, whole.slice(0, length));
    assert.equal(verifyLedgerFile(path)!.verdict, 'torn-tail');
    const head = appendBundle(dir, entry(7));
    const found = verifyLedgerFile(path, { anchor: head })!;
    assert.equal(found.verdict, 'verified', JSON.stringify(found));
    assert.equal(found.bundles.at(-1)?.bundle, entry(7).bundle);
    truncateSync(path, statSync(path).size - 5);
    assert.equal(verifyLedgerFile(path)!.verdict, 'torn-tail');
    appendBundle(dir, entry(8));
    assert.equal(verifyLedgerFile(path)!.verdict, 'unanchored');
  }
});

test('many that append at once leave a consistent ledger with every record', async (t) => {
  const dir = scratchFolder(t);
  const program = join(dir, 'append-many.cjs');
  const source = join(import.meta.dirname, 'append-many.ts');
  buildSync({ entryPoints: [source], outfile: program, bundle: true, platform: 'node', logLevel: 'error' });
  const dumps = join(dir, 'dumps');
  await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, [program, dumps, '60'])));
  const found = verifyLedgerFile(join(dumps, 'ledger'))!;
  assert.equal(found.verdict, 'unanchored', found.problem);
  assert.equal(found.bundles.length, 360);
  assert.equal(found.records, 361);
});

test('a sealed bundle is in the ledger, and one that was exchanged is not', (t) => {
  const dir = scratchFolder(t);
  const make = (id: string, text: string) => {
    const writer = startBundle({ dir, program: 'p', verdictKind: 'exit', writer: '1', id });
    writer.writePart('trigger.json', text);
    return { path: writer.seal(), head: writer.ledgerHead };
  };
  const first = make('0000000000000001', '{"a":1}');
  const second = make('0000000000000002', '{"a":2}');
  assert.match(second.head ?? '', /^3:[0-9a-f]{64}$/);
  const found = verifyBundle(first.path, { anchor: second.head! });
  assert.deepEqual(
    [found.verdict, found.ledger?.entry, found.ledger?.verdict],
    ['whole', 'listed', 'verified'],
  );
  const manifest = join(first.path, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"exit"', '"snapshot"'));
  const changed = verifyBundle(first.path);
  assert.deepEqual([changed.verdict, changed.ledger?.entry], ['altered', 'differs']);
  renameSync(join(dir, 'ledger'), join(dir, 'moved'));
  assert.equal(verifyBundle(first.path).ledger, undefined);
  assert.equal(verifyBundle(second.path, { ledger: join(dir, 'moved') }).ledger?.entry, 'listed');
  const third = startBundle({ dir, program: 'p', verdictKind: 'exit', writer: '1', ledger: false });
  third.writePart('trigger.json', '{}');
  assert.equal(verifyBundle(third.seal()).ledger, undefined);
  assert.equal(existsSync(join(dir, 'ledger')), false);
});

test('a ledger that can’t be written costs the bundle nothing', (t) => {
  const dir = scratchFolder(t);
  writeFileSync(join(dir, 'ledger'), 'not a ledger');
  const writer = startBundle({ dir, program: 'p', verdictKind: 'exit', writer: '1' });
  writer.writePart('trigger.json', '{}');
  const path = writer.seal();
  assert.equal(writer.ledgerHead, undefined);
  assert.equal(readFileSync(join(dir, 'ledger'), 'utf8'), 'not a ledger');
  const found = verifyBundle(path);
  assert.equal(found.verdict, 'whole');
  assert.deepEqual(
    [found.ledger?.verdict, found.ledger?.tamperedAt, found.ledger?.entry],
    ['tampered', 0, 'absent'],
  );
});
