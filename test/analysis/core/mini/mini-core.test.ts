/** A mini core of less than 100 KB yields the account of the full core. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { blankTexts } from '../../../../src/analysis/core/mini/blank-texts.ts';
import { type MiniCore, writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import { findFileOfBuild } from '../../../../src/analysis/core/native/module-search.ts';
import { bytesSource } from '../../../../src/bytes/byte-source.ts';
import { coreExtents, readCore } from '../../../../src/formats/elf-core/core-file.ts';
import { layOutCore } from '../../../../src/formats/elf-core/write-core.ts';
import { type Death, makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const bin = join(import.meta.dirname, '..', '..', '..', '..', 'bin', 'agentdump.js');
const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;
const noTools = has('gdb') && has('eu-stack') ? false : 'gdb or eu-stack (elfutils) is not installed';

for (const node of nodesInTurn)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let path: string;
    let mini: MiniCore;
    before(async () => {
      death = makeCore(node.path, [join(victims, 'deaths.cjs'), 'read-null']);
      path = join(dirname(death.core), 'mini.gz');
      mini = await writeMiniCore(death.core, path);
    });
    after(() => death?.remove());

    test('the same account', async () => {
      assert.deepEqual(await accountForCore(path), mini.account);
      assert.equal(mini.account.verdict?.kind, 'native-crash');
    });

    test('small, and for nobody else to read', () => {
      assert.equal(statSync(path).size, mini.bytes);
      assert.ok(mini.bytes <= 100 * 1024, `${mini.bytes}`);
      assert.equal(statSync(path).mode & 0o777, 0o600);
    });

    test('it leaves the heap behind, so that questions to a heap are refused', () => {
      const words = [bin, 'heap', 'summary', path];
      const { stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      assert.equal(status, 2);
      assert.match(stderr, /holds no heap/);
    });

    test('a mini core of a mini core is the same, and nothing is replaced', async () => {
      const again = join(dirname(death.core), 'again.gz');
      const second = await writeMiniCore(path, again);
      assert.deepEqual(second.account, mini.account);
      assert.ok(second.memoryBytes <= mini.memoryBytes);
      await assert.rejects(writeMiniCore(death.core, again), { code: 'unwritable' });
    });

    for (const [program, ...args] of [['values.cjs'], ['optimised.cjs', '3', '14', '20000']] as const)
      test(`${program}: the same account, as small`, async () => {
        const other = makeCore(node.path, [join(victims, program), ...args]);
        try {
          const target = join(dirname(other.core), 'mini.gz');
          const { account, bytes } = await writeMiniCore(other.core, target);
          assert.deepEqual(await accountForCore(target), account);
          assert.deepEqual(account.gaps, []);
          assert.ok(bytes <= 100 * 1024, `${bytes}`);
        } finally {
          other.remove();
        }
      });

    test('in the middle of a collection: the same account, with what may be off', async () => {
      const other = makeCore(node.path, [join(victims, 'mid-collection.cjs'), '500']);
      try {
        const target = join(dirname(other.core), 'mini.gz');
        const { account, bytes } = await writeMiniCore(other.core, target);
        assert.equal(account.gaps.length, 1);
        assert.deepEqual(await accountForCore(target), account);
        assert.ok(bytes <= 100 * 1024, `${bytes}`);
      } finally {
        other.remove();
      }
    });

    test('gdb and eu-stack open it', { skip: noTools }, () => {
      const raw = join(dirname(death.core), 'mini.core');
      writeFileSync(raw, gunzipSync(readFileSync(path)));
      const show = (tool: string, words: string[]) => spawnSync(tool, words, { encoding: 'utf8' }).stdout;
      const debugger_ = [
        '-nx',
        '-batch',
        '-iex',
        'set debuginfod enabled off',
        '-ex',
        'info threads',
        '-ex',
        'bt',
      ];
      const seen = show('gdb', [...debugger_, node.path, raw]);
      assert.equal(seen.match(/^[* ] +\d+ +.*(?:LWP|Thread)/gm)?.length, mini.account.threads?.length, seen);
      assert.match(seen, /^#0 .*uv_kill/m);
      assert.match(
        show('eu-stack', ['--core', raw, '-e', node.path]),
        /uv_kill.*uv_run.*node::Start.*_start/s,
      );
    });

    test('the same account where nobody has that Node', async () => {
      const exe = join(dirname(death.core), 'node-elsewhere');
      copyFileSync(node.path, exe);
      const other = makeCore(exe, [join(victims, 'deaths.cjs'), 'read-null']);
      try {
        const target = join(dirname(other.core), 'elsewhere.gz');
        const { account, bytes } = await writeMiniCore(other.core, target);
        assert.ok(bytes <= 100 * 1024, `${bytes}`);
        rmSync(exe);
        const again = await accountForCore(target);
        assert.deepEqual(again, account);
        assert.ok(!again.gaps.some((gap) => gap.part.startsWith('core module')));
        assert.ok(again.threads?.[0]?.frames.some((f) => f.function === 'Agent.run'));
        const raw = gunzipSync(readFileSync(target));
        raw.write('!', raw.indexOf('[{"path"'));
        const torn = join(dirname(other.core), 'torn-record.gz');
        writeFileSync(torn, gzipSync(raw));
        const { gaps } = await accountForCore(torn);
        const buildId = account.modules?.native.find((m) => m.path === exe)?.buildId ?? '';
        // The Node that runs this test may be the same build.
        if (findFileOfBuild(exe, buildId)) assert.ok(!JSON.stringify(gaps).includes('not on this machine'));
        else assert.match(JSON.stringify(gaps), /not on this machine/);
      } finally {
        other.remove();
      }
    });

    test('a torn note of ours leads to a walk over what heap there is', async () => {
      const raw = gunzipSync(await import('node:fs').then((fs) => fs.readFileSync(path)));
      raw.write('!', raw.indexOf('{"suspended"'));
      const torn = join(dirname(death.core), 'torn.gz');
      writeFileSync(torn, gzipSync(raw));
      const account = await accountForCore(torn);
      assert.equal(account.verdict?.kind, 'native-crash');
      assert.ok(Array.isArray(account.suspended));
    });
  });

test('of a text that nobody was shown only the number of its lines is kept, before and after each part that was', () => {
  const text = 'first\nsecond\r\nthird\n  shown\nfifth\n\nseventh';
  const from = text.indexOf('  shown');
  for (const bytesPerUnit of [1, 2] as const) {
    const outer = { address: 5000, bytesPerUnit, length: text.length };
    const encoding = bytesPerUnit === 1 ? 'latin1' : 'utf16le';
    const target = Buffer.from(`<${text}>`, encoding);
    blankTexts(target, 5000 - bytesPerUnit, [{ ...outer, shown: [[from - 1, from + 8]] }]);
    const blanked = target.toString(encoding);
    assert.equal(blanked.length, text.length + 2);
    assert.match(blanked, /^<\n\n {17}\n {2}shown\n\n\n {12}>$/);
  }
  const part = Buffer.from(text.slice(8));
  blankTexts(part, 5008, [{ address: 5000, bytesPerUnit: 1, length: text.length, shown: [] }]);
  assert.match(part.toString(), /^\n{5} +$/);
});

test('what is laid out is read back: segments, flags and places', () => {
  const flags = { readable: true, writable: true, executable: false };
  const segments = [
    { start: 0x10000, memorySize: 0x3000, fileSize: 0x1000, ...flags },
    { start: 0x20080, memorySize: 0x80, fileSize: 0x80, ...flags },
    { start: 0x30000, memorySize: 0x1000, fileSize: 0, ...flags, writable: false, executable: true },
  ];
  const { head, offsets, size } = layOutCore(segments, Buffer.alloc(0));
  const core = readCore(bytesSource(Buffer.concat([head, Buffer.alloc(size - head.length)])));
  assert.deepEqual(core.problems, []);
  assert.deepEqual(
    core.segments.map(({ start, end, fileSize, writable, executable }) => ({
      start,
      end,
      fileSize,
      writable,
      executable,
    })),
    segments.map(({ start, memorySize, fileSize, writable, executable }) => ({
      start,
      end: start + memorySize,
      fileSize,
      writable,
      executable,
    })),
  );
  assert.deepEqual(
    coreExtents(core).map((e) => e.offset),
    offsets.slice(0, 2),
  );
  assert.throws(() => layOutCore(Array(70_000).fill(segments[0]), Buffer.alloc(0)), { code: 'over-limit' });
});
