/** The whole account of real cores: values, closures, workers, waiting functions, counts, and why a process aborted. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import type { Account } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';

const values = [
  '-7',
  '0.5',
  'NaN',
  '-1180591620717411303424n',
  '"żółw \\"☃\\""',
  '"left-left-left-0-right-right"',
  '"defghijklmnopqrst"',
  '[ null, undefined, true, false ]',
  '[ 1, "two", { three: 3 } ]',
  '[ 1.5, 2.5 ]',
  '[ 1, (empty), "x" ]',
  'Map(1) { "a" => { x: 1 } }',
  'Set(2) { 1, "z" }',
  '"hello" in Buffer(5)',
  '1970-01-01T00:00:00.000Z',
  '2023-11-14T22:13:20.000Z',
  '[Date: invalid]',
  '/ab+c/',
  'Symbol(tag)',
  '[RangeError: bad range]',
  'Promise { 5 }',
  'Promise { <rejected> [Error: no] }',
  '{ name: "loop", self: [Circular] }',
  '[Function: die]',
  'Derived { #secret: 42, shown: "p" }',
  '{ y: 1 }',
];

function local(frame: Frame | undefined, name: string): string | undefined {
  return frame?.locals?.find((l) => l.name === name)?.value;
}

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let account: Account;
    let frames: Frame[];
    before(async () => {
      death = makeCore(node.path, [join(victims, 'values.cjs')]);
      account = await accountForCore(death.core);
      assertOfSchema(account);
      frames = account.threads?.find((t) => t.crashed)?.frames ?? [];
    });
    after(() => death?.remove());

    test('process, verdict, fault, and nothing missing', () => {
      assert.equal(account.process?.nodeVersion?.split('.')[0], `v${node.major}`);
      assert.equal(account.verdict?.kind, 'native-crash');
      assert.equal(account.signal?.faultAddress, '0x0');
      assert.equal(account.signal?.access, 'write');
      assert.match(account.verdict?.title ?? '', /SIGSEGV: write through a null pointer/);
      assert.match(
        account.modules?.native.find((m) => m.path === node.path)?.buildId ?? '',
        /^[0-9a-f]{40}$/,
      );
      assert.deepEqual(account.gaps, []);
    });

    test('both worlds in one stack, the program marked as its own', () => {
      const names = frames.map((f) => f.function);
      const at = ['uv_kill', 'process.kill', 'die', 'Derived.run', 'uv_run', 'node::Start(int, char**)'].map(
        (name) => names.indexOf(name),
      );
      assert.ok(
        at.every((row, i) => row >= 0 && row > (at[i - 1] ?? -1)),
        names.join('\n'),
      );
      assert.equal(frames.find((f) => f.function === 'die')?.inApp, true);
      assert.equal(frames.find((f) => f.function === 'process.kill')?.inApp, false);
    });

    test('values of every kind', () => {
      const text =
        local(
          frames.find((f) => /crash$/.test(f.function ?? '')),
          '..._values',
        ) ?? '';
      for (const value of values) assert.ok(text.includes(value), `${value} in ${text}`);
      assert.match(text, /\{ key\d+: \d+, /);
    });

    test('arguments by name, what was passed beyond them, this, and the closure', () => {
      const run = frames.find((f) => f.function === 'Derived.run');
      assert.equal(local(run, 'this'), 'Derived { #secret: 42, shown: "p" }');
      assert.equal(local(run, 'first'), '1');
      assert.equal(local(run, '{…}'), '{ second: 2 }');
      assert.equal(local(run, '...rest'), '[ 4, 5 ]');
      assert.equal(local(run, 'kept'), '8');
      assert.equal(
        run?.source?.find((s) => s.line === run.line)?.text.trim(),
        'return die(everything(), () => kept);',
      );
    });

    test('the worker was waiting in its own JavaScript', () => {
      const worker = account.threads?.find((t) => t.kind === 'worker');
      const frame = worker?.frames.find((f) => f.function === 'waitInWorker');
      assert.equal(frame?.line, 7);
      assert.equal(local(frame, 'what'), '"a letter"');
      assert.equal(local(frame, '_neverPassed'), 'undefined');
    });

    test('async functions: where each waits, with what, and who waits for it', () => {
      const own = account.suspended?.filter((s) => s.frames[0]?.inApp) ?? [];
      const [requests, ...others] = own;
      assert.equal(requests?.count, 3);
      assert.deepEqual(
        requests?.frames.map((f) => [f.function, f.line]),
        [
          ['queryDatabase', 81],
          ['handleRequest', 85],
          ['main', 89],
        ],
      );
      assert.equal(local(requests?.frames[0], 'sql'), '"select 1"');
      assert.match(local(requests?.frames[1], 'request') ?? '', /url: "\/item\/\d"/);
      assert.deepEqual(
        others.map((s) => s.frames.map((f) => f.function)),
        [['ticks', 'consume']],
      );
    });

    test('objects are counted, each once', () => {
      assert.equal(account.memory?.classes?.find((c) => c.name === 'Ticket')?.count, 4321);
    });

    test('functions whose coverage is counted have their places too', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'agentdump-coverage-'));
      const own = makeCore(node.path, [join(victims, 'deaths.cjs'), 'read-null'], {
        env: { NODE_V8_COVERAGE: folder },
      });
      try {
        const other = await accountForCore(own.core, { heap: false });
        const ran = other.threads?.[0]?.frames.find((frame) => frame.function === 'Agent.run');
        assert.deepEqual([ran?.tier, ran?.line], ['interpreter', 25]);
        assert.match(ran?.file ?? '', /deaths\.cjs$/);
      } finally {
        own.remove();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    const aborts: [string, string[], string, RegExp][] = [
      ['abort', [], 'abort', /process\.abort/],
      ['out-of-memory', ['--max-old-space-size=40'], 'heap-out-of-memory', /ran out of memory/],
      ['uncaught', ['--abort-on-uncaught-exception'], 'uncaught-exception', /TypeError: no such tool/],
    ];
    for (const [kind, flags, verdict, title] of aborts)
      test(`why it stopped itself: ${kind}`, async () => {
        const own = makeCore(node.path, [...flags, join(victims, 'deaths.cjs'), kind]);
        try {
          const other = await accountForCore(own.core, { heap: false });
          assert.equal(other.verdict?.kind, verdict);
          assert.match(other.verdict?.title ?? '', title);
          const place = other.threads?.[0]?.frames.find((f) => f.inApp);
          assert.match(place?.file ?? '', /deaths\.cjs$/);
        } finally {
          own.remove();
        }
      });
  });
