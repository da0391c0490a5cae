import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { scratchFolder } from '../scratch-folder.ts';

const at = new Date('2026-11-21T03:04:05.678Z');
const base = { program: 'my agent/1', verdictKind: 'uncaught-exception', writer: '0.1.0', at };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('a bundle is a folder that its manifest seals', (t) => {
  const dir = join(scratchFolder(t), 'deep', 'er');
  const writer = startBundle({ ...base, dir, id: '0123456789abcdef' });
  assert.equal(writer.id, '0123456789abcdef');
  assert.ok(writer.path.endsWith('.agentdump.starting'));
  assert.ok(writer.writePart('trigger.json', '{"kind":"x"}'));
  assert.ok(writer.path.endsWith('.agentdump.partial'));
  assert.ok(writer.writePart('sources/0.js', new Uint8Array([0x61, 0x62]), { complete: false }));
  writer.addGap({ part: 'report.json', reason: 'no time', lookedFor: 'getReport' });
  writer.countRedactions('trigger.json', new Map([['key-name', 2]]));
  writer.countRedactions('trigger.json', new Map([['key-name', 1]]));
  const path = writer.seal();
  assert.equal(basename(path), '20261121T030405.678Z-my-agent-1-uncaught-exception-01234567.agentdump');
  assert.deepEqual(readdirSync(path).sort(), ['manifest.json', 'sources', 'trigger.json']);
  const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'));
  assert.deepEqual(manifest.parts, [
    { name: 'trigger.json', bytes: 12, sha256: sha256('{"kind":"x"}'), complete: true },
    { name: 'sources/0.js', bytes: 2, sha256: sha256('ab'), complete: false },
  ]);
  assert.deepEqual(manifest.gaps, [{ part: 'report.json', reason: 'no time', lookedFor: 'getReport' }]);
  assert.deepEqual(manifest.redactions, [{ rule: 'key-name', part: 'trigger.json', count: 3 }]);
  assert.equal(manifest.schema, 'agentdump.bundle');
  assert.equal(manifest.version, 1);
  assert.equal(manifest.createdAt, at.toISOString());
  assert.equal(manifest.program, 'my agent/1');
});

test('only the user may enter, whatever the umask', (t) => {
  for (const mask of [0o000, 0o777]) {
    const dir = join(scratchFolder(t), 'a', 'b');
    const before = process.umask(mask);
    let path: string;
    try {
      const writer = startBundle({ ...base, dir });
      writer.writePart('trigger.json', '{}');
      writer.writePart('maps/0.map', '{}');
      path = writer.seal();
    } finally {
      process.umask(before);
    }
    const modes = (p: string) => lstatSync(p).mode & 0o7777;
    for (const folder of [join(dir, '..'), dir, path, join(path, 'maps')]) assert.equal(modes(folder), 0o700);
    for (const file of ['trigger.json', 'maps/0.map', 'manifest.json'])
      assert.equal(modes(join(path, file)), 0o600);
  }
});

test('a stream is hashed as it goes, and can be taken back', (t) => {
  const dir = scratchFolder(t);
  const writer = startBundle({ ...base, dir });
  const part = writer.openPart('report.json');
  for (const chunk of ['{"é', new Uint8Array([0x22]), ':1}']) assert.ok(part.write(chunk));
  assert.ok(part.close());
  assert.equal(part.write('more'), false);
  assert.equal(Buffer.from(writer.readBack('report.json')!).toString(), '{"é":1}');
  const other = writer.openPart('heap.heapsnapshot.gz');
  other.write('half');
  other.abandon('over its deadline');
  assert.equal(other.close(), false);
  assert.equal(writer.readBack('heap.heapsnapshot.gz'), undefined);
  writer.dropPart('report.json', 'the canary was in it');
  const path = writer.seal();
  const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'));
  assert.deepEqual(manifest.parts, []);
  assert.deepEqual(
    manifest.gaps.map((gap: { part: string; reason: string }) => `${gap.part}: ${gap.reason}`),
    ['heap.heapsnapshot.gz: over its deadline', 'report.json: the canary was in it'],
  );
  assert.deepEqual(readdirSync(path), ['manifest.json']);
});

test('a part written again replaces the first, and odd names are gaps', (t) => {
  const writer = startBundle({ ...base, dir: scratchFolder(t) });
  assert.ok(writer.writePart('error.json', 'first'));
  assert.ok(writer.writePart('error.json', 'second'));
  const odd = ['../x', '/etc/x', 'a/b/c', 'manifest.json', 'progress.jsonl', 'x.unfinished', '', '.hidden'];
  for (const name of odd) assert.equal(writer.writePart(name, 'x'), false, name);
  const manifest = JSON.parse(readFileSync(join(writer.seal(), 'manifest.json'), 'utf8'));
  assert.deepEqual(
    manifest.parts.map((part: { sha256: string }) => part.sha256),
    [sha256('second')],
  );
  assert.deepEqual(
    manifest.gaps.map((gap: { part: string }) => gap.part),
    odd,
  );
});

test('bundles of one instant and one id get names of their own', (t) => {
  const dir = scratchFolder(t);
  const paths = [1, 2, 3].map(() => {
    const writer = startBundle({ ...base, dir, id: '0123456789abcdef' });
    writer.writePart('trigger.json', '{}');
    return writer.seal();
  });
  assert.equal(new Set(paths).size, 3);
  assert.ok(paths[2]!.endsWith('-01234567-3.agentdump'));
});

test('discard leaves nothing', (t) => {
  const dir = scratchFolder(t);
  const writer = startBundle({ ...base, dir });
  writer.writePart('trigger.json', '{}');
  writer.writePart('sources/1.js', 'x');
  writer.discard();
  assert.deepEqual(readdirSync(dir), []);
});

test('a program or an instant that fits no name still gets one', (t) => {
  const dir = scratchFolder(t);
  for (const program of ['', '../..', '-rf', 'é'.repeat(300), 'x'.repeat(1000), '\u001b[31m\n']) {
    const writer = startBundle({ ...base, dir, program, at: new Date(Number.NaN), verdictKind: '' });
    writer.writePart('trigger.json', '{}');
    assert.match(
      basename(writer.seal()),
      /^\d{8}T\d{6}\.\d{3}Z-[A-Za-z0-9][\w.-]*-unknown-[0-9a-f]{8}\.agentdump$/,
    );
  }
});

test('gaps beyond a thousand are one gap more', (t) => {
  const writer = startBundle({ ...base, dir: scratchFolder(t) });
  writer.writePart('trigger.json', '{}');
  for (let i = 0; i < 1500; i++) writer.addGap({ part: `sources/${i}.js`, reason: 'no time' });
  const { gaps } = JSON.parse(readFileSync(join(writer.seal(), 'manifest.json'), 'utf8'));
  assert.equal(gaps.length, 1001);
  assert.deepEqual(gaps.slice(-2), [
    { part: 'sources/999.js', reason: 'no time' },
    { part: 'manifest.json', reason: 'further gaps are not listed' },
  ]);
});
