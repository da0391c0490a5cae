/**
 * A program with many faults, each reached by its name: how it is built, and how it dies of one of them. Variants of a fault
 * differ in their build, their Node, the way to the fault, and in its data: ids, counts, hosts, paths, words.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findNode } from '../../support/agents/agent-preload.ts';
import { preload } from '../../support/victims/run-victim.ts';
import { minifyByTerser } from './terser.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** How many lines are put before each declaration, and what bundles it. */
const builds = {
  written: { lines: 0 },
  shifted: { lines: 23 },
  refactored: { lines: 8, isRefactored: true },
  minified: { lines: 6, minifier: 'esbuild', isMapped: true },
  terser: { lines: 9, minifier: 'terser', isMapped: true },
  unmapped: { lines: 12, minifier: 'esbuild' },
  terserUnmapped: { lines: 4, minifier: 'terser' },
  bundled: { lines: 15, minifier: 'none' },
} as const satisfies Record<
  string,
  {
    lines: number;
    isRefactored?: boolean;
    minifier?: 'esbuild' | 'terser' | 'none';
    isMapped?: boolean;
  }
>;
type Build = keyof typeof builds;

export interface FaultVariant {
  name: string;
  node: 20 | 22 | 24 | 26;
  way: 'direct' | 'async' | 'awaited' | 'timer' | 'queue' | 'event' | 'http';
  build: Build;
  /** From one: which of the data. */
  seed: number;
}

export interface FaultSet {
  /** Of the folder in `fixtures`, and of the program. */
  name: string;
  faults: readonly string[];
  variantsOf(fault: string): readonly FaultVariant[];
}

export const sourceOf = (name: string): string => join(repository, 'fixtures', name);

export const hasMap = ({ build: kind }: FaultVariant): boolean => {
  const { minifier, isMapped } = { minifier: undefined, isMapped: false, ...builds[kind] };
  return minifier === undefined || isMapped;
};

/** All builds of the program, in `folder`. */
export async function buildFaultSet({ name, faults, variantsOf }: FaultSet, folder: string): Promise<void> {
  const kinds = new Set(faults.flatMap((fault) => variantsOf(fault).map(({ build: kind }) => kind)));
  for (const kind of kinds) {
    const at = join(folder, 'builds', kind);
    if (existsSync(at)) continue;
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module' }));
    const { lines, minifier, isMapped, isRefactored } = {
      ...{ minifier: undefined, isMapped: false, isRefactored: false },
      ...builds[kind],
    };
    if (minifier === undefined) {
      writeSource(sourceOf(name), join(at, 'src'), lines, isRefactored);
      symlinkSync(join(repository, 'node_modules'), join(at, 'node_modules'));
      continue;
    }
    const sources = join(folder, 'sources', kind);
    writeSource(sourceOf(name), sources, lines, false);
    const outfile = join(at, 'dist', 'main.mjs');
    await build({
      entryPoints: [join(sources, 'main.mjs')],
      outfile,
      bundle: true,
      minify: minifier === 'esbuild',
      platform: 'node',
      format: 'esm',
      external: ['pg-native'],
      nodePaths: [join(repository, 'node_modules')],
      banner: {
        js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
      },
      sourcemap: isMapped ? 'linked' : false,
      logLevel: 'silent',
    });
    if (minifier === 'terser') await minifyByTerser(outfile, isMapped);
  }
}

/** Lines are put before each declaration of a module. What is refactored has other callers, whose names end in `Action`. */
function writeSource(source: string, to: string, lines: number, isRefactored: boolean): void {
  mkdirSync(to, { recursive: true });
  cpSync(source, to, { recursive: true });
  if (lines === 0) return;
  const note = Array.from({ length: lines }, (_, n) => `// note ${n}\n`).join('');
  for (const name of readdirSync(to)) {
    const text = readFileSync(join(to, name), 'utf8');
    const called = isRefactored ? text.replace(/\b(\w+)Flow\b/g, '$1Action') : text;
    writeFileSync(join(to, name), called.replace(/^(?=export|const|import)/gm, note));
  }
}

/** The path of the bundle that the death left; undefined if it left none. */
export async function dieOfFault(
  { variantsOf }: FaultSet,
  folder: string,
  fault: string,
  variant: FaultVariant,
): Promise<string | undefined> {
  const number = variantsOf(fault).findIndex(({ name }) => name === variant.name);
  const dumps = join(folder, 'dumps', `${fault}-${number}`);
  if (!existsSync(dumps)) {
    const node = findNode(variant.node);
    if (!node) return undefined;
    mkdirSync(dirname(dumps), { recursive: true });
    const built = join(folder, 'builds', variant.build);
    const main = join(built, existsSync(join(built, 'dist')) ? 'dist' : 'src', 'main.mjs');
    const isHang = /hang$/i.test(fault);
    const limit = /grows?$/i.test(fault) ? ['--max-old-space-size=40'] : [];
    const child = spawn(node, [...limit, '--require', preload, main], {
      cwd: number % 2 ? built : dirname(main),
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        FAULT: variant.build === 'refactored' ? fault.replace(/Flow$/, 'Action') : fault,
        WAY: variant.way,
        SEED: String(variant.seed),
        AGENTDUMP_DIR: dumps,
        AGENTDUMP_EXITS: 'all',
        AGENTDUMP_HEAP: 'off',
        AGENTDUMP_HANG_MS: isHang ? '1000' : '0',
        AGENTDUMP_MEMORY_PERCENT: '0',
      },
    });
    const limitOfLife = setTimeout(() => child.kill('SIGKILL'), isHang ? 8_000 : 60_000);
    await new Promise((resolve) => child.on('close', resolve));
    clearTimeout(limitOfLife);
  }
  if (!existsSync(dumps)) return undefined;
  const found = readdirSync(dumps).filter((name) => name.endsWith('.agentdump'));
  // A worker's death has a bundle of its own, and one for the program that it ended.
  return found.sort().map((name) => join(dumps, name))[0];
}
