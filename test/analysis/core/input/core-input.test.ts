/** Cores as people have them: compressed, inside a report, through a pipe, truncated. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { collectedBySystemd, contradiction } from '../../../../src/analysis/core/input/collected.ts';
import {
  type CoreInput,
  openCoreBytes,
  openCoreInput,
} from '../../../../src/analysis/core/input/core-input.ts';
import { Spool } from '../../../../src/analysis/core/input/spool.ts';
import { AgentdumpError } from '../../../../src/errors.ts';
import { readCore } from '../../../../src/formats/elf-core/core-file.ts';
import { fuzzRuns } from '../../../support/run/fuzz-runs.ts';
import { synthCore, synthThread } from '../../../support/synth/synth-elf.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-input-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Two different patterns, with a gap of zeros between them. */
const memory = Buffer.concat([
  Buffer.from(Array.from({ length: 9000 }, (_, i) => (i * i * 31) % 251)),
  Buffer.alloc(3 << 20),
  Buffer.from(Array.from({ length: 9000 }, (_, i) => (i * i * 17) % 241)),
]);
const core = Buffer.from(synthCore([synthThread(41, 11, {})], [{ address: 0x10000, bytes: memory }]));

function bytesOf({ source, close }: CoreInput): Buffer {
  const bytes = Buffer.alloc(source.size, 1);
  assert.equal(source.readInto(bytes, 0), source.size);
  close();
  return bytes;
}

function reportOf(packed: Buffer): Buffer {
  const lines = [packed.subarray(0, 20), packed.subarray(20)].map((part) => ` ${part.toString('base64')}`);
  return Buffer.from(
    ['ProblemType: Crash', 'ProcCmdline: node x.js', 'Signal: 11', 'CoreDump: base64', ...lines, ''].join(
      '\n',
    ),
  );
}

async function open(name: string, bytes: Buffer): Promise<CoreInput> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return openCoreInput(path);
}

test('plain, by gzip, and in reports of apport of every age', async () => {
  const gzipped = gzipSync(core);
  for (const [name, bytes] of Object.entries({
    plain: core,
    'core.gz': gzipped,
    'two.gz': Buffer.concat([gzipSync(core.subarray(0, 9999)), gzipSync(core.subarray(9999))]),
    'twice.gz': gzipSync(gzipped),
    'new.crash': reportOf(gzipped),
    'old.crash': reportOf(deflateSync(core)),
    'packed.crash.gz': gzipSync(reportOf(gzipped)),
  })) {
    const input = await open(name, bytes);
    assert.deepEqual(input.problems, [], name);
    assert.deepEqual(input.collected?.arguments, name.includes('crash') ? ['node', 'x.js'] : undefined, name);
    assert.ok(bytesOf(input).equals(core), name);
  }
  assert.ok(bytesOf(await openCoreBytes(gzipped)).equals(core));
});

for (const packing of ['zstd', 'lz4', 'xz', 'bzip2'] as const) {
  const isMissing = spawnSync(packing, ['--version'], { input: '' }).error !== undefined;
  test(`by ${packing}`, { skip: isMissing && `${packing} is not installed` }, async () => {
    const packed = spawnSync(packing, ['-c'], { input: core, maxBuffer: 1 << 26 }).stdout;
    const input = await open(`core.${packing}`, packed);
    assert.deepEqual(input.problems, []);
    assert.ok(bytesOf(input).equals(core));
    const torn = await open(`torn.${packing}`, packed.subarray(0, packed.length - 9)).catch((error) => error);
    if (torn instanceof Error) return assert.equal((torn as AgentdumpError).code, 'malformed-input');
    // Node 22's own zstd accepts a truncated stream as complete; the core's segment table reveals it.
    const said = [...torn.problems, ...readCore(torn.source).problems].join();
    assert.match(said, new RegExp(`${packing}: it breaks off or is damaged|the file is cut off`));
    const some = bytesOf(torn);
    assert.ok(some.equals(core.subarray(0, some.length)));
  });
}

test('without the program of a packing: what to install, and nothing else', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    await assert.rejects(open('core.xz', Buffer.from('fd377a585a000004', 'hex')), {
      code: 'unsupported-version',
      message: /packed with xz.*no program `xz` on PATH/,
    });
  } finally {
    process.env['PATH'] = path;
  }
});

test('of one that is cut short: what came, and a word on the rest', async () => {
  const packed = gzipSync(core);
  const input = await open('cut.gz', packed.subarray(0, packed.length - 2000));
  assert.match(input.problems.join(), /^gzip: it breaks off or is damaged after \d+ bytes of the core/);
  const { source } = input;
  assert.ok(source.size > 4096 && source.size < core.length, `${source.size}`);
  assert.match(readCore(source).problems.join(), /cut off: \d+ bytes of memory/);
  assert.ok(bytesOf(input).equals(core.subarray(0, source.size)));
  await assert.rejects(open('head.gz', packed.subarray(0, 12)), { code: 'malformed-input' });
});

test('nothing of it stays in the folder for temporary files', async () => {
  const place = join(folder, 'spool');
  rmSync(place, { recursive: true, force: true });
  const spool = new Spool(mkdtempSync(place));
  const random = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => 1 + ((i * i) % 255)));
  for (let i = 0; i < 40; i++) spool.write(random);
  spool.write(Buffer.alloc(100_000));
  const { source, close } = spool.end();
  const left = readdirSync(folder).filter((name) => name.startsWith('spool'));
  assert.deepEqual(readdirSync(join(folder, left[0] ?? '')), []);
  assert.equal(source.size, (40 << 20) + 100_000);
  const end = Buffer.alloc(100_010, 1);
  source.readInto(end, (40 << 20) - 10);
  assert.ok(end.equals(Buffer.concat([random.subarray(-10), Buffer.alloc(100_000)])));
  close();
  const nowhere = new Spool(join(folder, 'nowhere'));
  assert.throws(
    () => {
      for (let i = 0; i < 40; i++) nowhere.write(random);
    },
    { code: 'unwritable' },
  );
});

test('what is written in pieces is read at any place', () => {
  const piece = fc.oneof(
    fc.integer({ min: 1, max: 9000 }).map((length) => Buffer.alloc(length)),
    fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.nat(40_000),
      fc.integer({ min: 1, max: 9000 }),
      (pieces, offset, length) => {
        const spool = new Spool(folder);
        for (const bytes of pieces) spool.write(bytes);
        const { source } = spool.end();
        const whole = Buffer.concat(pieces);
        assert.equal(source.size, whole.length);
        const target = Buffer.alloc(length, 7);
        const wanted = whole.subarray(offset, offset + length);
        assert.equal(source.readInto(target, offset), wanted.length);
        assert.ok(target.subarray(0, wanted.length).equals(wanted));
      },
    ),
  );
});

test('the name that systemd-coredump gives, and what contradicts the core', () => {
  const boot = '0123456789abcdef0123456789abcdef';
  assert.deepEqual(collectedBySystemd(`core.node.1000.${boot}.4173.1700000000123456.zst`), {
    by: 'systemd-coredump',
    pid: 4173,
    at: '2023-11-14T22:13:20.123Z',
  });
  const named = collectedBySystemd(`core.my\\x20app.js.0.${boot}.7.1700000000000000`);
  assert.equal(named?.pid, 7);
  for (const name of ['core.4173', 'core', `core.node.1000.${boot}.4173.zst`, 'node.core.zst'])
    assert.equal(collectedBySystemd(name), undefined, name);
  const found = readCore({ size: core.length, readInto: (target, at) => core.copy(target, 0, at) });
  assert.match(contradiction({ by: 'apport', signal: 6 }, found) ?? '', /signal 6 ended it.*it was 11/);
  assert.equal(contradiction({ by: 'apport', signal: 11 }, found), undefined);
});

test('whatever becomes of the bytes of a packed core: it is read, or refused by name', async () => {
  const packed = [gzipSync(core), reportOf(gzipSync(core))];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...packed),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })), {
        maxLength: 4,
      }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (whole, changes, share) => {
        const bytes = Buffer.from(whole.subarray(0, Math.ceil(whole.length * share)));
        for (const [at, value] of changes) bytes[Math.floor(at * bytes.length)] = value;
        try {
          const input = await openCoreBytes(bytes);
          readCore(input.source);
          input.close();
        } catch (error) {
          assert.ok(error instanceof AgentdumpError, String(error));
        }
      },
    ),
    { numRuns: fuzzRuns(300) },
  );
});
