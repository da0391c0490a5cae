/**
 * A program bundled into one file of megabytes: its bundle keeps what is near the stack, and the account is like any other.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildSync } from 'esbuild';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import type { ScriptsPart } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const longestKept = 100_000;

interface Way {
  what: string;
  minify: boolean;
  sourcemap: boolean;
  flags?: readonly string[];
}

const ways: readonly Way[] = [
  { what: 'with a source map', minify: false, sourcemap: true },
  { what: 'with one that Node reads too', minify: false, sourcemap: true, flags: ['--enable-source-maps'] },
  { what: 'without one', minify: false, sourcemap: false },
  { what: 'in one line', minify: true, sourcemap: false },
];

function writeProgram(dir: string, options: { minify: boolean; sourcemap: boolean }): void {
  const parts = ['hotels', 'flights', 'trains'];
  for (const part of parts) {
    const functions = Array.from(
      { length: 12_000 },
      (_, at) => `export function ${part}${at}(city: string) {\n  return city + ' by ${part} ${at}';\n}\n`,
    );
    writeFileSync(
      join(dir, `${part}.ts`),
      `${functions.join('')}export const all${part} = [${functions.map((_, at) => part + at)}];\n`,
    );
  }
  writeFileSync(
    join(dir, 'main.ts'),
    `${parts.map((part) => `import { all${part} } from './${part}';`).join('\n')}
function book(price: number | undefined) {
  if (price === undefined) throw new Error('no price was given');
}
setTimeout(() => book([allhotels, allflights, alltrains].length > 9 ? 1 : undefined), 20);\n`,
  );
  buildSync({
    entryPoints: [join(dir, 'main.ts')],
    bundle: true,
    platform: 'node',
    outfile: join(dir, 'program.cjs'),
    logLevel: 'error',
    ...options,
  });
}

for (const node of nodesInTurn)
  describe(node.name, () => {
    for (const { what, flags = [], ...options } of sampleOf(ways, 2))
      test(what, async (t) => {
        const dir = temporaryFolder(t);
        writeProgram(dir, options);
        const { status } = spawnSync(node.path, [...flags, '--require', preload, 'program.cjs'], {
          cwd: dir,
          stdio: 'ignore',
          env: { PATH: process.env['PATH'], AGENTDUMP_DIR: join(dir, 'dumps') },
        });
        assert.equal(status, 1);
        const bundle = openBundle(join(dir, 'dumps', bundlesIn(dir)[0] ?? ''));
        t.after(() => bundle.close());
        const script = bundle
          .readJson<ScriptsPart>('scripts.json')
          ?.scripts.find(({ url }) => url.endsWith('program.cjs'));
        assert.equal(script?.isExcerpt, true);
        const kept = bundle.readPart(script.sourcePart ?? '');
        assert.ok(kept !== undefined && kept.toString().trim().length < longestKept);

        const { verdict, threads } = await analyzeBundle(bundle);
        assert.match(verdict?.title ?? '', /no price was given/);
        const frame = threads?.[0]?.frames[0];
        const shown = frame?.source?.map(({ text }) => text).join('\n') ?? '';
        assert.match(shown, /no price was given/);
        if (options.sourcemap) {
          assert.match(frame?.file ?? '', /main\.ts$/);
          assert.equal(frame?.line, 5);
          const map = JSON.parse(`${bundle.readPart(script.mapPart ?? '')}`);
          assert.deepEqual(
            map.sources.filter((_: string, at: number) => map.sourcesContent[at] !== null),
            ['main.ts'],
          );
        }
      });
  });
