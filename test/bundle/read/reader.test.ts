import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { findBundle, listBundles } from '../../../src/bundle/finished/list.ts';
import { type BundleReader, openBundle } from '../../../src/bundle/read/reader.ts';
import { upgradeManifest } from '../../../src/bundle/read/upgrade.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import {
  synthEntry,
  synthFiles,
  synthId,
  synthStem,
  synthTrigger,
  writeSynthBundle,
} from '../../support/synth/synth-bundle.ts';
import { scratchFolder } from '../scratch-folder.ts';

const gapsOf = (bundle: BundleReader) => bundle.gaps.map((gap) => `${gap.part}: ${gap.reason}`);

function assertFails(path: string, code: string): void {
  assert.throws(() => openBundle(path), { code });
}

test('the smallest sealed bundle', (t) => {
  const bundle = openBundle(writeSynthBundle(scratchFolder(t)));
  assert.equal(bundle.id, synthId);
  assert.equal(bundle.sealed, true);
  assert.equal(bundle.packed, false);
  assert.deepEqual(bundle.gaps, []);
  assert.deepEqual(
    bundle.parts.map((part) => [part.name, part.complete]),
    [['trigger.json', true]],
  );
  assert.deepEqual(bundle.readJson('trigger.json'), synthTrigger);
  assert.equal(bundle.readPart('error.json'), undefined);
});

test('the smallest torn bundle says that it was not sealed', (t) => {
  const path = writeSynthBundle(scratchFolder(t), { isPartial: true });
  writeFileSync(join(path, 'error.json.unfinished'), '{"err');
  const bundle = openBundle(path);
  assert.equal(bundle.id, synthId);
  assert.equal(bundle.sealed, false);
  assert.equal(bundle.head.program, 'demo');
  assert.equal(bundle.parts[0]?.complete, true);
  assert.match(gapsOf(bundle).join(), /never sealed.*error.json: its writing had begun/);
  assert.deepEqual(bundle.readJson('trigger.json'), synthTrigger);
});

test('a trigger alone is enough, and nothing vouches for it', (t) => {
  const path = writeSynthBundle(scratchFolder(t));
  unlinkSync(join(path, 'manifest.json'));
  const bundle = openBundle(path);
  assert.equal(bundle.id, synthId);
  assert.equal(bundle.parts[0]?.complete, false);
  assert.match(gapsOf(bundle).join(), /trigger.json: nothing vouches for it/);
});

test('three things are fatal', (t) => {
  const dir = scratchFolder(t);
  assertFails(join(dir, 'nothing'), 'not-found');
  assertFails(dir, 'not-a-bundle');
  writeFileSync(join(dir, 'file'), 'text');
  assertFails(join(dir, 'file'), 'not-a-bundle');
  assertFails(writeSynthBundle(dir, { manifest: { version: 2 } }), 'unsupported-version');
  assertFails(writeSynthBundle(dir, { name: 'no-trigger', parts: {}, manifestText: '{' }), 'not-a-bundle');
});

test('what the manifest names and the folder lacks, and the reverse', (t) => {
  const parts = { 'trigger.json': synthTrigger, 'error.json': { error: {} }, 'sources/0.js': 'abc' };
  const path = writeSynthBundle(scratchFolder(t), { parts });
  unlinkSync(join(path, 'error.json'));
  truncateSync(join(path, 'sources/0.js'), 2);
  writeFileSync(join(path, 'extra.json'), '{}');
  const bundle = openBundle(path);
  assert.deepEqual(
    bundle.parts.map((part) => part.name),
    ['trigger.json', 'sources/0.js'],
  );
  assert.equal(bundle.readPart('extra.json'), undefined);
  assert.equal(bundle.readPart('sources/0.js')?.toString(), 'ab');
  const gaps = gapsOf(bundle).join('\n');
  assert.match(gaps, /error.json: the manifest names it, but it is not there/);
  assert.match(gaps, /sources\/0.js: it has 2 bytes where 3 were sealed/);
  assert.match(gaps, /sources\/0.js: its bytes are not those that were written/);
});

test('links and pipes in a part’s place are left alone', { timeout: 60_000 }, (t) => {
  const dir = scratchFolder(t);
  const parts = { 'trigger.json': synthTrigger, 'error.json': '{}', 'agent.json': '{}' };
  const path = writeSynthBundle(dir, { parts });
  writeFileSync(join(dir, 'outside'), '{"outside":1}');
  unlinkSync(join(path, 'error.json'));
  symlinkSync('../outside', join(path, 'error.json'));
  unlinkSync(join(path, 'agent.json'));
  execFileSync('mkfifo', [join(path, 'agent.json')]);
  symlinkSync('/etc', join(path, 'sources'));
  const bundle = openBundle(path);
  assert.equal(bundle.readJson('error.json'), undefined);
  assert.equal(bundle.readJson('agent.json'), undefined);
  const gaps = gapsOf(bundle).join('\n');
  assert.match(gaps, /error.json: it was left alone: it is a symbolic link/);
  assert.match(gaps, /agent.json: it was left alone: it is not a regular file/);
  assert.match(gaps, /sources: it was left alone: it is a symbolic link/);
});

test('JSON that would hurt becomes a gap', (t) => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const parts = {
    'trigger.json': synthTrigger,
    'error.json': `{"a":${deep}}`,
    'agent.json': '{"state":{"__proto__":{"isAdmin":true},"ok":"\\u005f","l":[{"\\u005f_proto__":1}]}}',
    'report.json': `{"a":[${'[],'.repeat(2_000_001)}0]}`,
    'locals.json': '[1]',
    'memory.json': '{"usage":',
    'handles.json': `{"text":${JSON.stringify('\\"[[['.repeat(1000))}}`,
  };
  const bundle = openBundle(writeSynthBundle(scratchFolder(t), { parts }));
  for (const name of ['error.json', 'report.json', 'locals.json', 'memory.json'])
    assert.equal(bundle.readJson(name), undefined, name);
  const agent = bundle.readJson<{ state: Record<string, unknown> }>('agent.json');
  assert.equal(Object.hasOwn(agent!.state, '__proto__'), false);
  assert.deepEqual(agent, { state: { ok: '_', l: [{}] } });
  assert.ok(bundle.readJson('handles.json'));
  const gaps = gapsOf(bundle).join('\n');
  assert.match(gaps, /error.json: its JSON has more than 200 levels/);
  assert.match(gaps, /report.json: its JSON has more than 2000000 values/);
  assert.match(gaps, /locals.json: its JSON is not an object/);
  assert.match(gaps, /memory.json: it is not whole JSON/);
  assert.match(gaps, /agent.json: 2 keys named __proto__ were left out/);
});

test('a part over the limit is a gap in memory and readable as a file', (t) => {
  const parts = { 'trigger.json': synthTrigger, 'heap.heapsnapshot.gz': 'x'.repeat(100_000) };
  const bundle = openBundle(writeSynthBundle(scratchFolder(t), { parts }));
  assert.equal(bundle.readPart('heap.heapsnapshot.gz', 99_999), undefined);
  assert.match(gapsOf(bundle).join(), /has 100000 bytes, more than 99999/);
  const file = bundle.openPartFile('heap.heapsnapshot.gz')!;
  let bytes = 0;
  for (const chunk of file.chunks(7777)) bytes += chunk.length;
  assert.equal(bytes, 100_000);
  assert.equal(file.bytes, 100_000);
  file.close();
});

test('what the writer writes is what the reader reads', (t) => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,10}(\/[a-z0-9][a-z0-9.-]{0,10})?$/);
  const oneLevel = (names: string[]) =>
    names.every((n) => names.every((m) => n === m || !m.startsWith(`${n}/`)));
  const parts = fc
    .dictionary(name, fc.uint8Array({ maxLength: 50 }), { maxKeys: 6 })
    .filter((d) => oneLevel(Object.keys(d)));
  const dir = scratchFolder(t);
  fc.assert(
    fc.property(parts, fc.boolean(), (content, isSealed) => {
      const writer = startBundle({ dir, program: 'p', verdictKind: 'exit', writer: '1' });
      writer.writePart('trigger.json', '{}');
      for (const [part, bytes] of Object.entries(content)) assert.ok(writer.writePart(part, bytes), part);
      const path = isSealed ? writer.seal() : writer.path;
      const bundle = openBundle(path);
      assert.equal(bundle.id, writer.id);
      for (const [part, bytes] of Object.entries(content))
        assert.deepEqual(bundle.readPart(part), Buffer.from(bytes));
      assert.equal(bundle.parts.length, Object.keys({ 'trigger.json': 1, ...content }).length);
      assert.equal(bundle.gaps.length, isSealed ? 0 : 1);
      writer.discard();
    }),
    { numRuns: fuzzRuns(50) },
  );
});

test('whatever stands in the manifest, the reader answers or refuses', (t) => {
  const dir = scratchFolder(t);
  const whole = synthFiles({ parts: { 'trigger.json': synthTrigger, 'error.json': '{}' } });
  const text = whole.get('manifest.json')!.toString();
  const damaged = fc.tuple(fc.nat(text.length), fc.nat(20), fc.string()).map(([at, count, put]) => {
    return text.slice(0, at) + put + text.slice(at + count);
  });
  const manifestText = fc.oneof(damaged, fc.json(), fc.string());
  fc.assert(
    fc.property(manifestText, (given) => {
      const path = writeSynthBundle(dir, { manifestText: given });
      try {
        const bundle = openBundle(path);
        for (const part of bundle.parts) if (!bundle.readPart(part.name)) assert.ok(bundle.gaps.length);
      } catch (error) {
        assert.match((error as { code: string }).code, /unsupported-version|not-a-bundle/);
      }
    }),
    { numRuns: fuzzRuns(300) },
  );
});

test('a manifest of an older version is brought up step by step', () => {
  const steps = {
    1: (m: Record<string, unknown>) => ({ ...m, a: 1 }),
    2: (m: Record<string, unknown>) => ({ ...m, b: m['a'] }),
  };
  assert.deepEqual(upgradeManifest({ version: 1 }, steps, 3), { version: 3, a: 1, b: 1 });
  assert.throws(() => upgradeManifest({ version: 4 }, steps, 3), { code: 'unsupported-version' });
  for (const version of [0, -1, 1.5, '1x', undefined, Number.POSITIVE_INFINITY])
    assert.throws(() => upgradeManifest({ version }, steps, 3), { code: 'malformed-input' });
});

test('finding and listing', (t) => {
  const dir = scratchFolder(t);
  assert.deepEqual(listBundles(join(dir, 'none')), []);
  assert.throws(() => findBundle('latest', dir), { code: 'not-found' });
  const older = writeSynthBundle(dir);
  const newer = writeSynthBundle(dir, {
    name: `${synthStem.replace('2026', '2027')}.agentdump.partial`,
    isPartial: true,
  });
  mkdirSync(join(dir, `${synthStem.replace('2026', '2028')}.agentdump.starting`));
  mkdirSync(join(dir, 'journals'));
  const broken = `${synthStem.replace('2026', '2025').replace('01234567', 'ffffffff')}.agentdump`;
  mkdirSync(join(dir, broken));
  assert.deepEqual(
    listBundles(dir).map(({ state, program, at }) => [state, program, at.slice(0, 4)]),
    [
      ['partial', 'demo', '2027'],
      ['sealed', 'demo', '2026'],
      ['unreadable', undefined, '2025'],
    ],
  );
  assert.equal(findBundle('latest', dir), newer);
  assert.equal(findBundle(older, dir), older);
  assert.equal(findBundle(dir, '/nowhere'), newer, 'a dump folder means its newest');
  assert.equal(findBundle(`${synthStem}.agentdump`, dir), older);
  assert.equal(findBundle('ffff', dir), join(dir, broken));
  assert.throws(() => findBundle('0123', dir), /more than one/);
  assert.throws(() => findBundle('nope', dir), { code: 'not-found' });
  assert.throws(() => findBundle('', dir), { code: 'usage' });
});

test('a list tells the error of each bundle if it is asked for', (t) => {
  const dir = scratchFolder(t);
  const write = (year: string, error: unknown) =>
    writeSynthBundle(dir, {
      name: `${synthStem.replace('2026', year)}.agentdump`,
      parts: { 'error.json': { error } },
    });
  write('2026', { name: 'TypeError', message: 'not a function\n  at all' });
  write('2025', { message: { toString: 1 } });
  write('2024', { name: 'Error', message: 'x'.repeat(10_000) });
  assert.deepEqual(
    listBundles(dir, { withErrors: true }).map(({ error }) => error),
    ['TypeError: not a function', undefined, `Error: ${'x'.repeat(293)}`],
  );
  assert.ok(listBundles(dir).every(({ error }) => error === undefined));
});

test('of very many gaps the first are listed', (t) => {
  const parts = Array.from({ length: 3000 }, (_, i) => synthEntry(`sources/${i}.js`, Buffer.from('x')));
  const bundle = openBundle(writeSynthBundle(scratchFolder(t), { manifest: { parts } }));
  const gaps = gapsOf(bundle);
  assert.equal(gaps.length, 1011);
  assert.match(gaps[1000] ?? '', /^sources\/\d+\.js: /);
  assert.equal(gaps.at(-1), 'manifest.json: further gaps are not listed');
});
