/**
 * A dump folder against its ledger: anything deleted, exchanged, renamed, cut or added is reported, each with its own
 * message.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { encryptBundle } from '../../../src/bundle/finished/pack-encrypted.ts';
import { verifyFolder } from '../../../src/bundle/finished/verify-folder.ts';
import { applyRetention } from '../../../src/bundle/keep/retention.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { scratchFolder } from '../scratch-folder.ts';

const bin = join(import.meta.dirname, '..', '..', '..', 'bin', 'agentdump.js');
const start = Date.UTC(2026, 10, 25, 3);

function writeBundles(dir: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `${i + 1}`.repeat(16);
    const at = new Date(start + i * 60_000);
    const writer = startBundle({ dir, program: 'agent', verdictKind: 'exit', writer: '0', id, at });
    writer.writePart('trigger.json', JSON.stringify({ id, kind: 'exit', program: 'agent', pid: i }));
    writer.writePart('error.json', `{"n":${i}}`);
    return writer.seal();
  });
}

function makeFolder(t: TestContext, count = 3) {
  const dir = join(scratchFolder(t), 'dumps');
  return { dir, paths: writeBundles(dir, count) as [string, string, string] };
}

/** Bundles that are not whole, with the reported problem. */
function oddIn(dir: string, options: Parameters<typeof verifyFolder>[1] = {}) {
  return verifyFolder(dir, options)
    .bundles.filter(({ state }) => state !== 'whole')
    .map(({ state, name = '', id = '', problem = '' }) => `${state} ${name || id}: ${problem}`);
}

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'verify', ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
  });
  return { status, stdout, stderr };
}

test('nobody touched it: whole, packed and encrypted copies too', (t) => {
  const { dir, paths } = makeFolder(t);
  packBundle(paths[0]);
  const found = verifyFolder(dir);
  assert.deepEqual([found.verdict, found.known, found.bundles.length], ['whole', 3, 4]);
  packBundle(paths[1], { output: join(dir, 'copy-for-the-ticket.zip') });
  cpSync(paths[2], join(dir, 'kept-by-hand'), { recursive: true });
  writeFileSync(join(dir, 'other.zip'), 'somebody else’s');
  assert.deepEqual(oddIn(dir).sort(), ['copy copy-for-the-ticket.zip: ', 'copy kept-by-hand: ']);
  assert.equal(verifyFolder(dir).verdict, 'whole');
  const said = run(dir);
  assert.deepEqual([said.status, said.stderr], [0, '']);
  assert.match(said.stdout, /^Whole: 3 bundles in the ledger, .*\nfolder .*dumps, 4 whole, 2 a copy of one/);
});

test('deleted, renamed, exchanged, cut, changed and added: each is told', (t) => {
  const { dir, paths } = makeFolder(t, 7);
  const [deleted, renamed, one, other, cut, changed, unsealed] = paths as unknown as string[];
  rmSync(deleted!, { recursive: true });
  renameSync(renamed!, join(dir, 'old death'));
  renameSync(one!, join(dir, 'aside'));
  renameSync(other!, one!);
  renameSync(join(dir, 'aside'), other!);
  rmSync(join(cut!, 'error.json'));
  writeFileSync(join(changed!, 'error.json'), '{"n":9}');
  rmSync(join(unsealed!, 'manifest.json'));
  const odd = oddIn(dir);
  const expected = [
    /^gone 1{16}: sealed 2\S+Z, and nothing here has its id$/,
    /^renamed old death: its writer called it 20261125T030100\.000Z-agent-exit-22222222$/,
    /^swapped 20261125T030200\.000Z-agent-exit-33333333\.agentdump: it holds bundle 4{16} under the name of 33333333…$/,
    /^swapped 20261125T030300\.000Z-agent-exit-44444444\.agentdump: it holds bundle 3{16} under the name of 44444444…$/,
    /^incomplete .*-55555555\.agentdump: error\.json is missing$/,
    /^altered .*-66666666\.agentdump: error\.json is altered$/,
    /^incomplete .*-77777777\.agentdump: it was sealed 2\S+Z, and its manifest\.json is not here$/,
  ];
  for (const line of expected)
    assert.equal(odd.filter((each) => line.test(each)).length, 1, `${line}\n${odd.join('\n')}`);
  assert.equal(odd.length, expected.length, odd.join('\n'));
  const said = run(dir);
  assert.equal(said.status, 1);
  assert.match(said.stdout, /^Not whole: 7 bundles of this folder not as the ledger says\.\n/);
  assert.match(said.stdout, /\ngone: bundle 1{16}: sealed .*\n {2}Restore it from a copy/);
  const json = JSON.parse(run(dir, '--json').stdout);
  assert.deepEqual([json.verdict, json.known, json.ledger.verdict], ['not-whole', 7, 'unanchored']);
});

test('a manifest that is there and can’t be read is not one that is missing', (t) => {
  const { dir, paths } = makeFolder(t, 1);
  writeFileSync(join(paths[0]!, 'manifest.json'), '{');
  assert.match(oddIn(dir).join(), /^altered .*: manifest\.json is unreadable$/);
});

test('one of another folder, whole in itself, is none of this one, whatever its name', (t) => {
  const { dir, paths } = makeFolder(t);
  const elsewhere = writeBundles(join(scratchFolder(t), 'elsewhere'), 1)[0]!;
  cpSync(elsewhere, join(dir, basename(elsewhere).replace('11111111', '99999999')), { recursive: true });
  rmSync(paths[0], { recursive: true });
  cpSync(elsewhere, paths[0], { recursive: true });
  const odd = oddIn(dir);
  assert.equal(odd.length, 2);
  for (const line of odd) assert.match(line, /^altered .*: the ledger has it with another manifest$/);
  const stranger = startBundle({ dir, program: 'x', verdictKind: 'exit', writer: '0', ledger: false });
  stranger.writePart('trigger.json', '{}');
  const name = basename(stranger.seal());
  assert.ok(oddIn(dir).includes(`unlisted ${name}: the ledger does not have it`));
  const alone = run(paths[0]);
  assert.deepEqual(
    [alone.status, alone.stdout.split('\n')[0]],
    [3, 'Altered: the ledger has this bundle with another manifest.'],
  );
});

test('what retention took is noted before it goes, and not missed', (t) => {
  const { dir, paths } = makeFolder(t, 4);
  const { removed } = applyRetention({ dir, maxBundles: 2, maxBytes: 1e9 });
  assert.equal(removed.length, 2);
  const found = verifyFolder(dir);
  assert.deepEqual([found.verdict, found.known, found.ledger?.verdict], ['whole', 4, 'unanchored']);
  assert.equal(found.bundles.filter(({ state }) => state === 'removed').length, 2);
  assert.match(run(dir).stdout, /2 whole, 2 removed by retention, as the ledger notes/);
  rmSync(paths.at(-1)!, { recursive: true });
  assert.equal(verifyFolder(dir).verdict, 'not-whole');
});

test('one that was never sealed is in no ledger, and misses nothing', (t) => {
  const { dir } = makeFolder(t, 1);
  const writer = startBundle({ dir, program: 'x', verdictKind: 'exit', writer: '0' });
  writer.writePart('trigger.json', '{}');
  const found = verifyFolder(dir);
  assert.deepEqual(
    [found.verdict, found.bundles.map(({ state }) => state).sort()],
    ['whole', ['torn', 'whole']],
  );
});

test('an encrypted one is known by its name, and judged with its key', (t) => {
  const { dir, paths } = makeFolder(t, 1);
  const passphrase = ['three', 'slow', 'boats'].join(' ');
  encryptBundle(paths[0], { kind: 'passphrase', passphrase, workFactor: 4 });
  rmSync(paths[0], { recursive: true });
  assert.match(oddIn(dir).join('\n'), /^locked .*\.agentdump\.zip\.age: [^\n]*$/);
  assert.equal(verifyFolder(dir, { keys: { identities: [], passphrase } }).verdict, 'whole');
});

test('the ledger is gone, cut or changed: what can’t be told is not told as whole', (t) => {
  const { dir, paths } = makeFolder(t);
  const ledger = join(dir, 'ledger');
  const bytes = readFileSync(ledger);
  const head = verifyFolder(dir).ledger?.head ?? '';
  assert.equal(run(dir, '--anchor', head).status, 0);
  writeFileSync(ledger, bytes.subarray(0, bytes.lastIndexOf(0x0a, bytes.length - 2) + 1));
  rmSync(paths[2], { recursive: true });
  assert.equal(verifyFolder(dir).verdict, 'whole', 'a ledger that was cut with its bundle tells nothing');
  const cut = run(dir, '--anchor', head);
  assert.deepEqual([cut.status, /^Not known: .*its ledger can’t be trusted/.test(cut.stdout)], [3, true]);
  writeFileSync(ledger, bytes);
  appendFileSync(ledger, 'torn');
  assert.equal(run(dir).status, 1);
  rmSync(ledger);
  const gone = run(dir, '--anchor', head);
  assert.equal(gone.status, 1);
  assert.match(gone.stdout, /^Not known: .*it has no ledger\.\n/);
  assert.match(gone.stdout, /Ledger: there is no ledger at .*moved or deleted/);
  const alone = run(paths[0], '--anchor', head);
  assert.equal(alone.status, 1);
  assert.match(
    alone.stdout,
    /\nLedger: there is no ledger at .*, so that anchor and key prove nothing\.\nName it with --ledger/,
  );
});

test('a folder from which all was deleted is a folder still', (t) => {
  const { dir, paths } = makeFolder(t, 1);
  rmSync(paths[0], { recursive: true });
  const said = run(dir);
  assert.deepEqual([said.status, /^Not whole: 1 bundle /.test(said.stdout)], [1, true]);
  assert.equal(run(dir, '--secrets').status, 2);
});
