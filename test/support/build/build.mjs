// Builds dist/: the library by tsc (ES modules and declarations), the preload by esbuild (one CommonJS file
// with nothing to import, because a dying process must not have to find a second file).
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildCommandLine } from './build-command-line.mjs';
import { buildPage, buildWorkbench } from './build-page.mjs';
import { buildPreload, buildReplayPreload, buildTestsPreload } from './build-preload.mjs';
import { leaveOutUnused } from './leave-out-unused.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', join(root, 'src')], { stdio: 'inherit' });

await buildPreload(join(root, 'dist', 'register.cjs'));
await buildReplayPreload(join(root, 'dist', 'replay.cjs'));
await buildTestsPreload(join(root, 'dist', 'register-tests.cjs'));
// tsc also compiled the entry as an ES module that nothing may load; its declarations stay.
rmSync(join(root, 'dist', 'register.js'), { force: true });
renameSync(join(root, 'dist', 'register.d.ts'), join(root, 'dist', 'register.d.cts'));
for (const end of ['js', 'd.ts']) rmSync(join(root, 'dist', `register-tests.${end}`), { force: true });
await inlinePackages('yargs');
await inlinePackages('mcp-sdk');
await buildPage(join(root, 'dist', 'report', 'html'));
await buildWorkbench(join(root, 'dist', 'workbench', 'page'));
await buildCommandLine(join(root, 'dist'));
await inlineDurableEngine();
cpSync(join(root, 'src', 'model', 'schema'), join(root, 'dist', 'schema'), { recursive: true });
leaveOutUnused(root);
writeFileSync(join(root, 'dist', '.built'), '');

/** One file instead of a package's many small ones (finding those of yargs took 40 ms); the licences beside it. */
async function inlinePackages(name) {
  const outfile = join(root, 'dist', 'cli', `${name}.js`);
  const { metafile } = await build({
    entryPoints: [join(root, 'src', 'cli', `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'inline',
    absWorkingDir: root,
    metafile: true,
    allowOverwrite: true,
    plugins: [{ name: 'plain-width', setup: usePlainWidth }],
  });
  writeLicences(metafile, join(root, 'dist', 'cli', `${name}.LICENSES.txt`));
}

/**
 * Our help has no emoji and no wide characters. To compile the expression by which `string-width` looks for them took a tenth of a
 * small command.
 */
function usePlainWidth(builder) {
  builder.onResolve({ filter: /^string-width$/ }, () => ({ path: 'string-width', namespace: 'plain-width' }));
  builder.onLoad({ filter: /.*/, namespace: 'plain-width' }, () => ({
    contents: `import { stripVTControlCharacters } from 'node:util';
export default (text) => stripVTControlCharacters(text).length;`,
  }));
}

/**
 * A few files instead of the forty that a durable run needs: their finding took 40 ms of each resume. What the engine and
 * `agentdump/durable` both need is in files that both import, so a worker loads it once, and a store that the host has made
 * is of the class that the engine knows. What hosts compare by identity (errors, the recorded API) stays outside.
 */
async function inlineDurableEngine() {
  const folder = join(root, 'dist', 'durable');
  const { metafile } = await build({
    entryPoints: [join(folder, 'engine.js'), join(folder, 'index.js')],
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: ['pg'],
    plugins: [
      leaveOutside(
        join(folder, 'engine.js'),
        (file) => ['errors.js', 'durable/api.js'].includes(file) || file.startsWith('agent/'),
      ),
    ],
    // Half a megabyte of source is read at each start. Names are kept, and lines short enough for Node to print one at an error.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    legalComments: 'inline',
    absWorkingDir: root,
    metafile: true,
    allowOverwrite: true,
  });
  writeLicences(metafile, join(folder, 'engine.LICENSES.txt'));
}

/** Of every package that a bundle holds. */
function writeLicences(metafile, path) {
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap(
      (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
    ),
  );
  const licences = [...packages].sort().map((folder) => {
    const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
    return `${folder.replace('node_modules/', '')}\n\n${file ? readFileSync(join(root, folder, file), 'utf8') : ''}`;
  });
  writeFileSync(path, licences.join('\n---\n\n'));
}

/** `isOutside` is asked of each file, by its path below dist/, and of the kind of the import. */
function leaveOutside(outfile, isOutside) {
  return {
    name: 'leave-outside',
    setup(builder) {
      builder.onResolve({ filter: /^\.{1,2}\// }, ({ path: from, resolveDir, kind }) => {
        const target = resolve(resolveDir, from);
        if (!isOutside(relative(join(root, 'dist'), target), kind)) return undefined;
        const path = relative(dirname(outfile), target);
        return { path: path.startsWith('.') ? path : `./${path}`, external: true };
      });
    },
  };
}
