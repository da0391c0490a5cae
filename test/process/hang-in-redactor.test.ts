/** A program that is stopped while we redact a text: the variables of our own frames hold pieces of it, and are not read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LocalsPart } from '../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { spawnUntil } from '../support/victims/run-until-bundle.ts';
import {
  findNodes,
  type NodeBinary,
  preload,
  programs,
  temporaryFolder,
} from '../support/victims/run-victim.ts';

const password = 'Sommerregen-1987!';
const pieces = Array.from({ length: password.length - 5 }, (_, at) => password.slice(at, at + 6));

type CleanUp = { after(cleanUp: () => void): void };

/** Frames of the hang, and the texts of all parts. */
async function hang(t: CleanUp, node: NodeBinary, whose: string) {
  const { child, bundle } = spawnUntil(
    node.path,
    ['--require', preload, join(programs, 'stalls/hang-in-redactor.cjs'), whose],
    join(temporaryFolder(t), 'dumps'),
    { AGENTDUMP_HANG_MS: '400' },
    /-event-loop-hang-/,
  );
  t.after(() => child.kill('SIGKILL'));
  const path = await bundle;
  child.kill('SIGKILL');
  const opened = openBundle(path);
  try {
    // None on a machine so busy that the thread did not stop in time.
    const frames = opened.readJson<LocalsPart>('locals.json')?.frames ?? [];
    return { frames, texts: opened.parts.map(({ name }) => readFileSync(join(path, name), 'utf8')) };
  } finally {
    opened.close();
  }
}

for (const node of findNodes())
  describe(node.name, () => {
    for (const [whose, own] of [
      ['own', /\/dist\/redaction\//],
      ['recorded', /\/dist\/register\.cjs:/],
    ] as const)
      test(whose, async (t) => {
        let seen = await hang(t, node, whose);
        const ours = () => seen.frames.filter(({ url }) => own.test(url));
        // It spends a part of its time outside.
        for (let again = 0; again < 8 && ours().length === 0; again++) seen = await hang(t, node, whose);
        assert.ok(ours().length > 0);
        assert.ok(ours().every(({ scopes }) => scopes.length === 0));
        const theirs = seen.frames.filter(({ url }) => url.endsWith('stalls/hang-in-redactor.cjs'));
        assert.ok(theirs.some(({ scopes }) => scopes.length > 0));
        const leaked = pieces.filter((piece) => seen.texts.some((text) => text.includes(piece)));
        assert.deepEqual(leaked, []);
      });
  });
