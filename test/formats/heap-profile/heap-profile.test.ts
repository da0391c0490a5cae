/** Sampled allocation profiles: the smallest, real ones of each Node, each fault with its error, damaged copies. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgentdumpError } from '../../../src/errors.ts';
import { isHeapProfile, readHeapProfile } from '../../../src/formats/heap-profile/heap-profile.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { SeededRandom } from '../../support/synth/seeded-random.ts';

interface Written {
  callFrame?: object;
  selfSize?: unknown;
  children?: unknown;
}

const frame = (functionName: string, url = 'file:///app.js', lineNumber = 0, columnNumber = 0): object => ({
  functionName,
  scriptId: '7',
  url,
  lineNumber,
  columnNumber,
});
const profileOf = (head: unknown): Buffer => Buffer.from(JSON.stringify({ head, samples: [] }));
const rootOf = (...children: Written[]): Written => ({
  callFrame: frame('(root)', '', -1, -1),
  selfSize: 0,
  children,
});

test('the smallest profile is its root', () => {
  const { calls, sampledBytes } = readHeapProfile(
    profileOf({ callFrame: frame('(root)', '', -1, -1), selfSize: 0 }),
  );
  assert.deepEqual(calls, [{ function: '(root)', script: '', line: 0, column: 0, bytes: 0, parent: -1 }]);
  assert.equal(sampledBytes, 0);
});

test('callers stand before what they call, positions count from 1', () => {
  const inner = { callFrame: frame('fill', 'file:///a.js', 11, 4), selfSize: 300, children: [] };
  const { calls, sampledBytes } = readHeapProfile(
    profileOf(
      rootOf(
        { callFrame: frame('main'), selfSize: 20, children: [inner] },
        { callFrame: frame('other'), selfSize: 1, children: [] },
      ),
    ),
  );
  assert.deepEqual(
    calls.map((call) => [call.function, call.line, call.column, call.bytes, call.parent]),
    [
      ['(root)', 0, 0, 0, -1],
      ['main', 1, 1, 20, 0],
      ['fill', 12, 5, 300, 1],
      ['other', 1, 1, 1, 0],
    ],
  );
  assert.equal(sampledBytes, 321);
});

test('the form of Chrome before 60, with the frame in the call itself', () => {
  const old = {
    functionName: '(root)',
    url: '',
    lineNumber: -1,
    columnNumber: -1,
    selfSize: 5,
    children: [],
  };
  assert.equal(readHeapProfile(profileOf(old)).calls[0]!.function, '(root)');
  assert.equal(readHeapProfile(profileOf(old)).sampledBytes, 5);
});

for (const { name, path } of nodesInTurn)
  test(`a profile that ${name} wrote`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-profile-'));
    const program = join(folder, 'keeps.cjs');
    writeFileSync(
      program,
      `const inspector = require('node:inspector'), fs = require('node:fs');
       const kept = globalThis.kept = [];
       function keepSome() { for (let i = 0; i < 20000; i++) kept.push({ text: 'entry ' + i, list: [i] }); }
       const session = new inspector.Session();
       session.connect();
       session.post('HeapProfiler.startSampling', { samplingInterval: 4096 });
       keepSome();
       session.post('HeapProfiler.stopSampling', (error, { profile }) =>
         fs.writeFileSync('kept.heapprofile', JSON.stringify(profile)));`,
    );
    const { status, stderr } = spawnSync(path, [program], { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const bytes = readFileSync(join(folder, 'kept.heapprofile'));
    assert.ok(isHeapProfile(bytes));
    const { calls, sampledBytes } = readHeapProfile(bytes);
    const ofKeepSome = calls.filter((call) => call.function === 'keepSome');
    assert.ok(ofKeepSome.every(({ script }) => script.endsWith('keeps.cjs')));
    const bytesOf = ofKeepSome.reduce((sum, call) => sum + call.bytes, 0);
    // 20,000 objects and lists of more than 16 bytes each; the sum is approximate because it is sampled.
    assert.ok(bytesOf > 600_000 && bytesOf <= sampledBytes, `${bytesOf} of ${sampledBytes}`);
  });

test('a deep tree is read without recursion', () => {
  const depth = 100_000;
  const one = '{"callFrame":{"functionName":"f"},"selfSize":1,"children":[';
  const bytes = Buffer.from(`{"head":${one.repeat(depth)}${']}'.repeat(depth)}}`);
  assert.equal(readHeapProfile(bytes).sampledBytes, depth);
});

const hostile: [name: string, bytes: Buffer, message: RegExp][] = [
  ['cut', profileOf(rootOf()).subarray(0, 40), /profile should be whole JSON/],
  ['no tree', Buffer.from('{"samples":[]}'), /head should be the root/],
  ['a list for a tree', profileOf([]), /head should be the root/],
  ['negative size', profileOf({ selfSize: -1 }), /selfSize should be a number of bytes/],
  ['size beyond exact numbers', Buffer.from('{"head":{"selfSize":1e300}}'), /selfSize should be/],
  ['size of text', profileOf({ selfSize: '12' }), /selfSize should be/],
  ['children that are no list', profileOf({ selfSize: 0, children: {} }), /children should be a list/],
  [
    'a child that is no call',
    profileOf({ selfSize: 0, children: [7] }),
    /children should be a list of calls/,
  ],
];
for (const [name, bytes, message] of hostile)
  test(`refused: ${name}`, () => {
    assert.throws(() => readHeapProfile(bytes), { code: 'malformed-input', message });
  });

test('hostile names stay text, and long ones are cut', () => {
  const { calls } = readHeapProfile(
    Buffer.from(
      `{"head":{"selfSize":1,"callFrame":{"__proto__":{"url":"evil"},"functionName":"${'x'.repeat(5000)}","url":{},"lineNumber":1e400}}}`,
    ),
  );
  assert.deepEqual([calls[0]!.function.length, calls[0]!.script, calls[0]!.line], [2000, '', 0]);
});

test('damaged copies give a profile or a named fault', () => {
  const whole = profileOf(rootOf({ callFrame: frame('main'), selfSize: 20, children: [] }));
  const random = new SeededRandom(61);
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(whole);
    for (let n = 0; n < 3; n++) bytes[random.below(bytes.length)] = random.below(256);
    try {
      readHeapProfile(bytes);
    } catch (error) {
      assert.ok(error instanceof AgentdumpError, String(error));
    }
  }
});
