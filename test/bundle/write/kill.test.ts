/**
 * SIGKILL at random instants of the writing (20, or 200 in the wide run): what is on disk can be read, and no bundle claims
 * what it lacks.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { buildSync } from 'esbuild';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { verifyLedgerFile } from '../../../src/bundle/finished/verify-ledger.ts';
import { type Keys, readIdentities } from '../../../src/bundle/read/age.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { countInTurn, isWideRun, onlyWide } from '../../support/run/test-nodes.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { contentOf, incompletePart, partsOfEach } from './endless-writer.ts';

const kills = isWideRun ? countInTurn(200, 4) : 20;
/** The latest kill, in milliseconds after the first write: some twenty bundles. */
const longestLife = 40;

async function writeUntilKilled(program: string, dir: string, recipient = '', longer = 1): Promise<void> {
  const child = spawn(process.execPath, [program, dir, recipient], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await sleep(Math.random() * longestLife * (recipient ? 2 : 1) * longer);
  child.kill('SIGKILL');
  await ended;
}

/** Returns whether the bundle was sealed. */
function checkBundle(path: string, keys?: Keys): boolean {
  const bundle = openBundle(path, keys);
  assert.match(bundle.id, /^[0-9a-f]{16}$/);
  const names = bundle.parts.map((part) => part.name);
  for (const { name, bytes, sha256, complete } of bundle.parts) {
    assert.equal(bundle.readPart(name)?.toString(), contentOf(name), `${path} ${name}`);
    assert.equal(bytes, contentOf(name).length);
    assert.match(sha256 ?? '', /^[0-9a-f]{64}$/);
    assert.equal(complete, name !== incompletePart);
  }
  assert.deepEqual(
    [...names].sort(),
    partsOfEach.slice(0, names.length).sort(),
    'parts are in order of value',
  );
  assert.ok(names.length > 0);
  if (bundle.sealed) assert.equal(names.length, partsOfEach.length);
  else assert.ok(bundle.gaps.some((gap) => gap.part === 'manifest.json'));
  bundle.close();
  return bundle.sealed;
}

/** Every folder without the suffix `.partial` is in the ledger, and a kill is never mistaken for tampering. */
function checkLedger(dumps: string): void {
  const ledger = verifyLedgerFile(join(dumps, 'ledger'));
  assert.notEqual(ledger?.verdict, 'tampered', ledger?.problem);
  for (const entry of readdirSync(dumps))
    if (entry.endsWith('.agentdump')) assert.equal(verifyBundle(join(dumps, entry)).ledger?.entry, 'listed');
}

function buildWriter(dir: string): string {
  const program = join(dir, 'endless-writer.cjs');
  const entry = join(import.meta.dirname, 'endless-writer.ts');
  buildSync({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', logLevel: 'error' });
  return program;
}

test(`killed ${kills} times while writing`, async (t) => {
  const dir = scratchFolder(t);
  const program = buildWriter(dir);
  const seen = { sealed: 0, torn: 0 };
  // A loaded machine writes so slowly that many kills may come before the first bundle is sealed.
  const hasBoth = () => seen.sealed > 0 && seen.torn > 0;
  const lane = async (name: string) => {
    for (let i = 0; i < kills / 2 || (!hasBoth() && i < kills * 5); i++) {
      const dumps = join(dir, name);
      mkdirSync(dumps);
      await writeUntilKilled(program, dumps, '', i < kills / 2 ? 1 : 4);
      for (const entry of readdirSync(dumps)) {
        if (entry.endsWith('.starting') || /^ledger(\.[0-9a-f]{32}\.unfinished)?$/.test(entry)) continue;
        assert.match(entry, /\.agentdump(\.partial)?$/);
        if (checkBundle(join(dumps, entry))) seen.sealed++;
        else seen.torn++;
      }
      checkLedger(dumps);
      rmSync(dumps, { recursive: true });
    }
  };
  await Promise.all([lane('a'), lane('b')]);
  t.diagnostic(`${seen.sealed} sealed, ${seen.torn} torn`);
  assert.ok(seen.torn > 0, 'no kill hit the writing: the test shows nothing');
  assert.ok(seen.sealed > 0);
});

test('killed 40 times while writing encrypted: all that stands opens, and nothing is clear', {
  skip: onlyWide,
}, async (t) => {
  const dir = scratchFolder(t);
  const program = buildWriter(dir);
  const identity = await generateX25519Identity();
  const keys = { identities: readIdentities(identity) };
  const seen = { sealed: 0, torn: 0 };
  for (let i = 0; i < 40; i++) {
    const dumps = join(dir, 'dumps');
    mkdirSync(dumps);
    await writeUntilKilled(program, dumps, await identityToRecipient(identity));
    for (const entry of readdirSync(dumps)) {
      const path = join(dumps, entry);
      assert.ok(!readFileSync(path).includes('trigger.json'), entry);
      if (!entry.endsWith('.age')) assert.match(entry, /^ledger|\.age\.unfinished$/);
      else if (checkBundle(path, keys)) seen.sealed++;
      else seen.torn++;
    }
    rmSync(dumps, { recursive: true });
  }
  t.diagnostic(`${seen.sealed} sealed, ${seen.torn} torn`);
  assert.ok(seen.torn + seen.sealed > 0, 'something stood');
});
