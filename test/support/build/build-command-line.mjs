// Builds the command line of dist/ from what tsc has compiled: as hundreds of ES modules, finding and loading them took longer
// than most commands do.
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  minifySyntax: true,
  // Node prints the line of an error.
  lineLimit: 160,
};

/** These are files of their own already, with their licences beside them. */
const ownFiles = ['cli/yargs.js', 'cli/mcp-sdk.js'];

/**
 * Writes `cli/start.cjs` and, for `agentdump run`, `cli/start-run.cjs`, and to `cli/bundled/` what they import later. What they
 * were made of is left out of dist/ afterwards, but for what threads and the library load (leave-out-unused.mjs).
 */
export async function buildCommandLine(dist) {
  const later = [
    ...(await buildStart(dist, 'cli/start.js', 'start.cjs')),
    ...(await buildStart(dist, 'cli/commands/run-start.js', 'start-run.cjs')),
  ];
  await buildBundled(dist, [...new Set(later)].sort());
}

/**
 * The way in, of `run` up to the start of its program, as one CommonJS file: Node loads that in half the time of ES modules.
 * @returns {Promise<string[]>} what it imports later, below dist/
 */
async function buildStart(dist, entry, name) {
  const later = new Set();
  await build({
    ...common,
    entryPoints: [join(dist, entry)],
    outfile: join(dist, 'cli', name),
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "'use strict';const ownUrl=require('node:url').pathToFileURL(__filename);" },
    plugins: [
      {
        name: 'import-later',
        setup(builder) {
          builder.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir, kind }) => {
            if (kind !== 'dynamic-import') return undefined;
            const file = relative(dist, resolve(resolveDir, path));
            later.add(file);
            return { path: `./bundled/${nameOf(file)}.js`, external: true };
          });
        },
      },
    ],
  });
  return [...later];
}

/** All files in one folder, so that the way from each to the rest of dist/ is the same. */
const nameOf = (file) => file.replace(/\.js$/, '').replaceAll('/', '-');

/** A few files for each command, with what several need in files that they share: a module is still loaded once. */
async function buildBundled(dist, files) {
  await build({
    ...common,
    entryPoints: files.map((file) => ({ in: join(dist, file), out: nameOf(file) })),
    outdir: join(dist, 'cli', 'bundled'),
    splitting: true,
    chunkNames: 'part-[hash]',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'keep-places',
        setup(builder) {
          builder.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
            const file = relative(dist, resolve(resolveDir, path));
            return ownFiles.includes(file) ? { path: `../../${file}`, external: true } : undefined;
          });
          // A module that looks for files beside itself finds them from where it was compiled to.
          builder.onLoad({ filter: /\.js$/ }, async ({ path }) => {
            const text = readFileSync(path, 'utf8');
            if (!path.startsWith(dist) || !text.includes('import.meta.url')) return undefined;
            const own = JSON.stringify(`../../${relative(dist, path)}`);
            // By esbuild, because a text of the module may contain these words too.
            const { code } = await transform(text, { define: { 'import.meta.url': 'ownUrl' } });
            return { contents: `const ownUrl=new URL(${own},import.meta.url).href;${code}`, loader: 'js' };
          });
        },
      },
    ],
  });
}
