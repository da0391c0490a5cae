/**
 * Reads every input of fixtures/hostile with the bundle's reader: each is either refused with a reason, or read in part with
 * the reason among the gaps. Also checks that the files on disk are what the generator produces.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyBundle } from '../../../src/bundle/finished/verify.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { type HostileInput, hostileInputs } from '../../support/hostile/synth-bundle-hostile.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'hostile');
const inputs = hostileInputs();
/** Faults in a journal's records are reported by the analysis: test/bundle/hostile/hostile-cli.test.ts. */
const saidLater = new Set(['journal']);

test('what is on the disk is what the generator makes', () => {
  const found = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((format) => readdirSync(join(folder, format.name)).map((fault) => `${format.name}/${fault}`));
  assert.deepEqual(found.sort(), inputs.map((input) => input.path).sort());
  assert.ok(found.length >= 80);
  // The output of zlib differs between releases, and with it the hashes in a manifest.
  const isPlain = ({ path, files }: HostileInput) =>
    ![path, ...files.keys()].some((name) => /\.(zip|gz)$/.test(name));
  for (const { path, files } of inputs.filter(isPlain))
    for (const [name, bytes] of files)
      assert.ok(readFileSync(join(folder, path, name)).equals(bytes), `${path} ${name}`);
});

function readThrough({ path }: HostileInput): { code?: string; text: string } {
  try {
    const bundle = openBundle(join(folder, path));
    for (const part of bundle.parts) {
      if (part.name.endsWith('.json')) bundle.readJson(part.name);
      else bundle.readPart(part.name);
      bundle.openPartFile(part.name)?.close();
    }
    bundle.close();
    verifyBundle(join(folder, path));
    return { text: bundle.gaps.map((gap) => `${gap.part}: ${gap.reason}`).join('\n') };
  } catch (error) {
    assert.ok(error instanceof AgentdumpError, `${path}: ${error}`);
    return { code: error.code, text: error.message };
  }
}

/** The others are read by a command of their own: test/bundle/hostile/hostile-others.test.ts. */
const bundles = inputs.filter(({ command }) => command === undefined);

for (const format of new Set(bundles.map((input) => input.path.split('/')[0] ?? '')))
  test(`${format}: each fault is refused or read in part`, () => {
    for (const input of bundles.filter((candidate) => candidate.path.startsWith(`${format}/`))) {
      const { code, text } = readThrough(input);
      assert.equal(code !== undefined, input.exit === 3, `${input.path}: ${code} ${text}`);
      if (input.says && !saidLater.has(format)) assert.match(text, input.says, input.path);
      assert.doesNotMatch(text, /root:x:0:0/, input.path);
      assert.ok(text.split('\n').length < 1100, `${input.path}: a flood of gaps`);
    }
  });
