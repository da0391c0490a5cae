/** One program, compiled by seven tools and really run: every frame must be found in the source, by name and line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reconstructStack } from '../../../src/analysis/stacks/reconstruct.ts';
import { capture, sourcesOf } from '../../support/victims/captured.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'fixtures', 'source-maps');
const programs = {
  tsc: 'tsc/main.js',
  'tsc-inline': 'tsc-inline/main.js',
  swc: 'swc/main.js',
  rollup: 'rollup/bundle.mjs',
  esbuild: 'esbuild/bundle.cjs',
  webpack: 'webpack/bundle.cjs',
  vite: 'vite/bundle.mjs',
};

/** Source and 1-based line of the marked places, in the order of the stack. */
const wanted = ['parseAnswer', 'readStep', 'Agent.takeStep', 'Agent.run', 'main'].map((name) => {
  for (const file of ['src/tools/parse answer.ts', 'src/agent.ts', 'src/main.ts']) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    const row = lines.findIndex((text) => text.endsWith(`: ${name}`) && text.includes('// frame'));
    const line = lines[row]?.includes('frame below') ? row + 2 : row + 1;
    if (row >= 0) return { name, file, line, text: lines[line - 1] };
  }
  throw new Error(`no marker for ${name}`);
});

for (const [tool, file] of Object.entries(programs))
  for (const raw of [false, true])
    test(`${tool}: every frame is found in the source ${raw ? 'from raw positions' : 'from the text'}`, async () => {
      const captured = capture(join(root, file), { raw });
      const [error] = captured.errors;
      const { frames, gaps } = await reconstructStack({
        ...sourcesOf(captured, root),
        stackText: error?.stack ?? '',
        message: error?.message ?? '',
        ...(captured.frames ? { frames: captured.frames } : {}),
      });
      assert.deepEqual(gaps, []);
      const own = frames.filter((frame) => frame.inApp);
      assert.deepEqual(
        own.map(({ file, line }) => `${file}:${line}`),
        wanted.map(({ file, line }) => `${join(root, file)}:${line}`),
      );
      for (const [n, frame] of own.entries()) {
        assert.ok(frame.generated, 'says where the code ran');
        assert.equal(frame.trust, raw ? 'inspector' : 'stack-text');
        const { name, text } = wanted[n] as (typeof wanted)[number];
        // rollup's own map has no source texts; minified code has no name for a function expression.
        if (tool !== 'tsc' && tool !== 'rollup')
          assert.equal(frame.source?.find(({ line }) => line === frame.line)?.text, text);
        if (frame.function !== undefined) assert.equal(frame.function, name);
        assert.equal(frame.async ?? false, n >= 3);
      }
      assert.ok(own.filter((frame) => frame.function).length >= 3);
      assert.ok(frames.some((frame) => frame.function === 'Array.map' && !frame.inApp));
    });
