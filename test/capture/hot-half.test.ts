/** What runs at every start stays small: no half that is carried as text comes in by an import. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const most = 100_000;

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
