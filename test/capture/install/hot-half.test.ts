/** The code that runs at every start stays small: no module that is embedded as text is included by an import. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import { build } from 'esbuild';
import { preload } from '../../support/victims/run-victim.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** It has 112,440 bytes. An import that brings a room with it costs several thousand; whoever raises this says for what. */
const most = 112_700;

test('the code of the preload that V8 scans at each start', async () => {
  const { metafile } = await build({
    entryPoints: [join(root, 'src', 'register.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    write: false,
    metafile: true,
    absWorkingDir: root,
  });
  const [output] = Object.values(metafile.outputs);
  assert.ok(output && output.bytes < most, `${output?.bytes} bytes`);
  const ofRedactor = Object.keys(output.inputs).filter((path) => path.startsWith('src/redaction/'));
  assert.deepEqual(ofRedactor, ['src/redaction/names/may-be-token.ts']);
});

test('what records in a waiting server has the redactor once, and nothing of the cold half', async () => {
  const inputsOf = async (half: string): Promise<string[]> => {
    const { metafile } = await build({
      entryPoints: [join(root, 'src', 'capture', 'install', half)],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      write: false,
      metafile: true,
      outfile: 'half.cjs',
      absWorkingDir: root,
    });
    return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  };
  const recording = await inputsOf('recording-half.ts');
  assert.ok(recording.includes('src/capture/recording/flight-recorder.ts'));
  assert.deepEqual(
    // A few lines that only cut a text may be there twice.
    recording.filter((path) => path.startsWith('src/redaction/') && path !== 'src/redaction/start-of.ts'),
    [],
  );
  const redaction = await inputsOf('redaction-half.ts');
  assert.ok(redaction.includes('src/redaction/policy.ts'));
  assert.deepEqual(
    redaction.filter((path) => /^src\/(?:bundle|capture\/(?:fatal-path|parts|heap|stacks))\//.test(path)),
    [],
  );
});

test('the redactor is in one half only, and the cold half is given it', () => {
  const text = readFileSync(preload, 'latin1');
  const halfOf = (name: string): string => {
    const [, deflated = ''] = new RegExp(`function ${name}\\(\\)\\{/\\*([\\w+/=]+)\\*/`).exec(text) ?? [];
    return inflateRawSync(Buffer.from(deflated, 'base64')).toString('latin1');
  };
  const cold = halfOf('AGENTDUMP_COLD_HALF');
  assert.ok(cold.includes('AGENTDUMP_REDACTOR'));
  // A rule of the redactor.
  assert.ok(halfOf('AGENTDUMP_REDACTION_HALF').includes('telegram-bot-token'));
  assert.ok(!cold.includes('telegram-bot-token'));
});

test('what is carried as text is ASCII: it is read one byte a character', () => {
  const text = readFileSync(preload, 'latin1');
  const carried = [...text.matchAll(/function (AGENTDUMP_\w+)\(\)\{\/\*([\w+/=]+)\*\//g)];
  assert.equal(carried.length, 4);
  for (const [, name, deflated = ''] of carried) {
    const half = inflateRawSync(Buffer.from(deflated, 'base64'));
    assert.ok(half.length > 10_000 && half.every((byte) => byte < 128), name);
  }
});
