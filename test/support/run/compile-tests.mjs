// Compiles src and test to JavaScript in .tests/, once for all test files: tsx, which each file would start, costs each of
// them 0.2 to 0.6 s of processor (Node 20). Only what has changed since; load-typescript.mjs hands it to Node.
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const outdir = join(root, '.tests');

export const compiledName = (path) => join(outdir, `${path.slice(root.length + 1, -'.ts'.length)}.js`);

/** Milliseconds since 1970; 0 where there is no such file. */
export function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export async function compileTests() {
  const entryPoints = [...findSources(join(root, 'src')), ...findSources(join(root, 'test'))].filter(
    (path) => changedAt(compiledName(path)) <= changedAt(path),
  );
  if (!entryPoints.length) return;
  // Not at the top: load-typescript-hooks.mjs has no use for it.
  const { build } = await import('esbuild');
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints,
    outdir,
    outbase: root,
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    // The maps' paths begin in .tests/, and Node takes them from where the TypeScript is, one folder up.
    sourceRoot: './.tests/',
    sourcesContent: false,
    logLevel: 'error',
  });
}

function findSources(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : findSources(path);
    return /(?<!\.d)\.ts$/.test(entry.name) ? [path] : [];
  });
}
