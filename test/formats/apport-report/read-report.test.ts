/** Reports of apport: as apport writes them, in pieces, and damaged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AgentdumpError } from '../../../src/errors.ts';
import { isApportReport } from '../../../src/formats/apport-report/layout.ts';
import { ApportReader, readApportFacts } from '../../../src/formats/apport-report/read-report.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const fields = [
  'ProblemType: Crash',
  'Date: Thu Nov 26 00:14:05 2026',
  'ExecutablePath: /srv/app/main.js',
  'InterpreterPath: /usr/bin/node',
  'ProcCmdline: node /srv/my\\ app/main.js --name=a\\\\b',
  'ProcCwd: /srv/app',
  'ProcMaps:',
  ' 00400000-00401000 r--p 00000000 fe:00 42 /usr/bin/node',
  ' 7f00-7f01 rw-p',
  'ProcStatus:',
  ' Name:\tnode',
  ' Pid:\t4711',
  'Signal: 11',
];

/**
 * The core in lines that are encoded as base64 separately and cut at `cuts`, as apport does; `after` are the fields that
 * follow.
 */
function synthReport(core: Buffer | undefined, cuts: number[], after: string[] = ['Tags: noble']): Buffer {
  const lines = [...fields];
  if (core) {
    lines.push('CoreDump: base64');
    const edges = [0, ...cuts.map((cut) => Math.min(cut, core.length)).sort((a, b) => a - b), core.length];
    for (let i = 1; i < edges.length; i++)
      lines.push(` ${core.subarray(edges[i - 1], edges[i]).toString('base64')}`);
  }
  return Buffer.from(`${[...lines, ...after].join('\n')}\n`);
}

function read(report: Buffer, pieces: number[] = []) {
  const reader = new ApportReader();
  const core: Buffer[] = [];
  let at = 0;
  for (const size of pieces) {
    core.push(...reader.write(report.subarray(at, at + size)));
    at += size;
  }
  core.push(...reader.write(report.subarray(at)));
  return { core: Buffer.concat(core), ...reader.end() };
}

const core = gzipSync(Buffer.from('\x7fELF and so on'.repeat(40)));

test('what apport knows of the process, and the core', () => {
  const found = read(synthReport(core, [23, 60]));
  assert.deepEqual(found.core, core);
  assert.equal(found.hasCore, true);
  assert.deepEqual(readApportFacts(found.fields), {
    executable: '/usr/bin/node',
    arguments: ['node', '/srv/my app/main.js', '--name=a\\b'],
    cwd: '/srv/app',
    signal: 11,
    pid: 4711,
    date: 'Thu Nov 26 00:14:05 2026',
  });
});

test('in pieces of any size, cut anywhere: the same', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }),
      fc.array(fc.integer({ min: 0, max: core.length }), { maxLength: 6 }),
      (pieces, cuts) => {
        const report = synthReport(core, cuts);
        assert.deepEqual(read(report, pieces), read(report));
        assert.deepEqual(read(report, pieces).core, core);
      },
    ),
    { numRuns: fuzzRuns(300) },
  );
});

test('without a core, or with one that is no base64, there is none', () => {
  assert.equal(read(synthReport(undefined, [])).hasCore, false);
  const kept = synthReport(undefined, [], ['CoreDump: /var/crash/elsewhere']);
  assert.deepEqual([read(kept).hasCore, read(kept).core.length], [false, 0]);
  assert.deepEqual(readApportFacts(new Map()), {});
});

test('another field of base64 is none of the core', () => {
  const report = synthReport(core, [10], ['VarLog: base64', ' AAAA', 'CoreDumpNot: base64', ' AAAA']);
  assert.deepEqual(read(report).core, core);
});

test('a line without a key is named', () => {
  assert.throws(() => read(Buffer.from('ProblemType: Crash\nno colon here\nSignal: 1\n')), {
    code: 'malformed-input',
  });
  assert.throws(() => read(Buffer.from(`ProblemType: Crash\n${'x'.repeat(5000)}`)), {
    code: 'malformed-input',
  });
  assert.ok(isApportReport(synthReport(undefined, [])));
  assert.ok(!isApportReport(Buffer.from('Problem')));
});

test('whatever the bytes: it is read, or refused by name', () => {
  const whole = synthReport(core, [23]);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.integer({ min: 0, max: whole.length }),
      (changes, length) => {
        const bytes = Buffer.from(whole.subarray(0, length));
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        try {
          readApportFacts(read(bytes).fields);
        } catch (error) {
          assert.ok(error instanceof AgentdumpError && error.code === 'malformed-input', String(error));
        }
      },
    ),
    { numRuns: fuzzRuns(2000) },
  );
});
