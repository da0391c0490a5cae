/** The warnings of a recording before it is replayed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { readRecording } from '../../src/replay/recorded/recording.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const name = '20261121T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const warning = 'the bundle has no environment: set the variables that the program needs';

for (const [what, environment, warns] of [
  ['variables', { variables: { MODEL: { value: 'x' } }, os: {} }, false],
  ['a system without variables', { os: { type: 'Linux' } }, true],
] as const)
  test(`an environment of ${what}`, async (t) => {
    const path = join(temporaryFolder(t), name);
    writeBundle(path, synthParts({ 'environment.json': environment }));
    const bundle = openBundle(path);
    try {
      assert.equal((await readRecording(bundle)).gaps.includes(warning), warns);
    } finally {
      bundle.close();
    }
  });
