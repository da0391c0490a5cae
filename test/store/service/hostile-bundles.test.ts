/**
 * Hostile files are uploaded to a service, with a true size and SHA-256: those of fixtures/hostile, and whole bundles of which
 * one thing was changed. Each is refused with a reason, and nothing of it is kept; a bundle that is sent afterwards is stored.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listIssues } from '../../../src/store/issues.ts';
import { type SynthEntry, synthZip } from '../../support/synth/synth-zip.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import { serviceUnderTest } from './under-test.ts';

const at = serviceUnderTest();
const { offer, put, sendAs, nothingIsLeft, notes } = at;
const hostile = fileURLToPath(new URL('../../../fixtures/hostile/', import.meta.url));

interface Answered {
  outcome?: string;
  because?: string;
  error?: { code: string; message: string };
}

/** Asks again while it is examined, or if the connection that was kept has just been closed. */
async function upload(bytes: Buffer, name = 'a.zip'): Promise<Answered> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const offered = { sha256, bytes: bytes.length, name };
  for (let tries = 0; ; tries++) {
    try {
      const answer = (await (await offer(offered)).json()) as Answered & { offset?: number };
      if (answer.offset === undefined) return answer;
      const rest = bytes.subarray(answer.offset);
      const examined = (await (await put(offered, rest, answer.offset)).json()) as typeof answer;
      if (examined.offset === undefined) return examined;
    } catch (error) {
      if (!(error instanceof TypeError) || tries > 3) throw error;
    }
  }
}

async function isRefused(bytes: Buffer, because: RegExp = /\S/): Promise<void> {
  const { outcome, because: told = '', error } = await upload(bytes);
  assert.equal(outcome ?? error?.code, bytes.length === 0 ? 'usage' : 'refused', told);
  assert.match(told || (error?.message ?? ''), because);
  assert.doesNotMatch(told, /[\0-\x1f\x7f-\x9f]|undefined|\[object|^it cannot be read: \w*Error/, told);
  nothingIsLeft();
}

async function stillServes(): Promise<void> {
  const { outcome, because } = await sendAs('send', writeDeath(at.dumps, { message: randomId() }));
  assert.equal(outcome, 'stored', because);
  assert.deepEqual(notes, []);
  nothingIsLeft();
}

/** The files of a folder as entries, a link as a link. */
function entriesOf(folder: string): SynthEntry[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name): SynthEntry[] => {
    const stat = lstatSync(join(folder, name));
    if (stat.isDirectory()) return [];
    if (stat.isSymbolicLink())
      return [{ name, content: Buffer.from(readlinkSync(join(folder, name))), mode: 0o120777 }];
    return [{ name, content: readFileSync(join(folder, name)), method: 8 }];
  });
}

test('the hostile files are refused, and a bundle after them is stored', async () => {
  const before = (await listIssues(at.store, { all: true })).length;
  for (const kind of ['packed', 'encrypted'])
    for (const name of readdirSync(join(hostile, kind))) {
      const bytes = readFileSync(join(hostile, kind, name));
      await isRefused(bytes).catch((error: Error) => assert.fail(`${kind}/${name}: ${error.message}`));
    }
  assert.equal((await listIssues(at.store, { all: true })).length, before);
  await stillServes();
});

/** Their parts are as the manifest says; what else it says is shown with care. */
const areWhole = /^(?:gaps|instructions|markup|proto|terminal|times|workflow)-|^part-named-twice$/;

test('a hostile manifest is refused, unless its bundle is whole', async () => {
  for (const name of readdirSync(join(hostile, 'manifest'))) {
    const bytes = synthZip(entriesOf(join(hostile, 'manifest', name)));
    if (areWhole.test(name)) assert.match((await upload(bytes)).outcome ?? '', /^(?:stored|there|refused)$/);
    else await isRefused(bytes).catch((error: Error) => assert.fail(`${name}: ${error.message}`));
  }
  await stillServes();
});

type Manifest = Record<string, unknown> & { parts: Record<string, unknown>[] };

/** A whole bundle whose manifest and entries were changed; the parts that are there keep their true digests. */
function changed(change: (manifest: Manifest, entries: SynthEntry[]) => SynthEntry[] | undefined): Buffer {
  const entries = entriesOf(writeDeath(at.dumps));
  const rest = entries.filter(({ name }) => name !== 'manifest.json');
  const manifest = JSON.parse(
    String(entries.find(({ name }) => name === 'manifest.json')?.content),
  ) as Manifest;
  const left = change(manifest, rest) ?? rest;
  return synthZip([...left, { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) }]);
}

/** One more part, named in the manifest as it is. */
function withPart(name: string, content: Buffer, more: Partial<SynthEntry> = {}): Buffer {
  return changed((manifest, entries) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    manifest.parts.push({ name, bytes: content.length, sha256, complete: true });
    return [...entries, { name, content, ...more }];
  });
}

const many = (count: number, nameOf: (n: number) => string): SynthEntry[] =>
  Array.from({ length: count }, (_, n) => ({ name: nameOf(n), content: Buffer.alloc(0) }));

const changes: [what: string, because: RegExp, make: () => Buffer][] = [
  ['ten thousand parts', /\S/, () => changed((_, entries) => [...entries, ...many(10_000, (n) => `p${n}`)])],
  [
    'a manifest of ten thousand parts',
    /not as it was sealed/,
    () =>
      changed((m) => {
        const { bytes, sha256 } = m.parts[0]!;
        for (const { name } of many(10_000, (n) => `p${n}`))
          m.parts.push({ name, bytes, sha256, complete: true });
        return undefined;
      }),
  ],
  ['a file that no manifest names', /no seal names/, () => changed((_, e) => [...e, ...many(1, () => 'x')])],
  ['a part that is missing', /not as it was sealed/, () => changed((_, entries) => entries.slice(1))],
  [
    'a part of another size',
    /not as it was sealed/,
    () => changed((m) => void Object.assign(m.parts[0]!, { bytes: 2 ** 50 })),
  ],
  [
    'a part of another digest',
    /not as it was sealed/,
    () => changed((m) => void Object.assign(m.parts[0]!, { sha256: 'a'.repeat(64) })),
  ],
  ['an id that is a path', /\S/, () => changed((m) => void Object.assign(m, { id: '../../../../etc/x' }))],
  ['an id in capitals', /\S/, () => changed((m) => void Object.assign(m, { id: '00112233445566AA' }))],
  ['an id with a NUL', /\S/, () => changed((m) => void Object.assign(m, { id: '00112233445566\0a' }))],
  [
    'a bundle of a newer version',
    /newer|later|version/,
    () => changed((m) => void Object.assign(m, { version: 99 })),
  ],
  ['another schema', /\S/, () => changed((m) => void Object.assign(m, { schema: 'other' }))],
  [
    'no parts at all',
    /\S/,
    () =>
      changed((m) => {
        m.parts = [];
        return [];
      }),
  ],
  ['a part above the bundle', /\S/, () => withPart('../../x.json', Buffer.from('{}'))],
  ['a part at an absolute path', /\S/, () => withPart('/tmp/x.json', Buffer.from('{}'))],
  ['a part with a NUL in its name', /\S/, () => withPart('x\0.json', Buffer.from('{}'))],
  ['a part with an escape in its name', /\S/, () => withPart('x\x1b[2J.json', Buffer.from('{}'))],
  [
    'a link to a file of the system',
    /\S/,
    () => withPart('x', Buffer.from('/etc/passwd'), { mode: 0o120777 }),
  ],
  ['a name in bad UTF-8', /\S/, () => withPart('\ud800x', Buffer.from('{}'))],
  [
    'a name twice',
    /\S/,
    () => changed((_, entries) => [...entries, { ...entries[0]!, content: Buffer.from('{}') }]),
  ],
  ['a bomb in a part', /\S/, () => withPart('x.json', Buffer.alloc(64 * 1024 ** 2), { method: 8 })],
  [
    'a bomb that says it is small',
    /\S/,
    () => withPart('x.json', Buffer.alloc(8 * 1024 ** 2), { method: 8, lies: { uncompressedSize: 10 } }),
  ],
  ['a zip in an age file without a header', /age/, () => Buffer.from('age-encryption.org/v1\n')],
  [
    'noise behind an age version',
    /age/,
    () => Buffer.concat([Buffer.from('age-encryption.org/v1\n'), randomBytes(5_000)]),
  ],
  [
    'an age header without a payload',
    /age/,
    () =>
      Buffer.from(
        `age-encryption.org/v1\n-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`,
      ),
  ],
  ['noise', /\S/, () => randomBytes(10_000)],
  ['one byte', /\S/, () => Buffer.from('P')],
  ['zeros', /\S/, () => Buffer.alloc(1024 ** 2)],
  ['the end of a zip alone', /\S/, () => synthZip([])],
];

test('a whole bundle of which one thing was changed is refused', async () => {
  for (const [what, because, make] of changes)
    await isRefused(make(), because).catch((error: Error) => assert.fail(`${what}: ${error.message}`));
  await stillServes();
});

test('parts of any content in a whole bundle neither stop the service nor fail in it', async () => {
  const kinds = readdirSync(hostile).filter((kind) =>
    ['error', 'trigger', 'environment', 'process'].includes(kind),
  );
  for (const kind of kinds)
    for (const name of readdirSync(join(hostile, kind))) {
      const parts = entriesOf(join(hostile, kind, name));
      const { outcome, because = '', error } = await upload(synthZip(parts));
      assert.ok(
        outcome === 'stored' || outcome === 'there' || (outcome === 'refused' && because !== ''),
        `${kind}/${name}: ${outcome} ${error?.message}`,
      );
    }
  await stillServes();
});
