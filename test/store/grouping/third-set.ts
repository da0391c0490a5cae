/**
 * A program with more than eighty faults (`fixtures/fleet`), written before the rules of version 7 without a look at those of
 * version 6: what libraries, Node and the system throw, wrapped and repeated errors, exits, hangs and heaps that grow. Each
 * variant differs in its build, its Node, the way to the fault, and in the data of it: ids, counts, hosts, paths, words.
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
const source = join(repository, 'fixtures', 'fleet');

export const thirdFaults: readonly string[] = [
  ...readFileSync(join(source, 'routes.mjs'), 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: \(/gm),
].map(([, name]) => name ?? '');

interface ThirdVariant {
  name: string;
  node: 20 | 22 | 24 | 26;
  way: 'direct' | 'awaited' | 'timer' | 'queue' | 'event' | 'http';
  build: 'written' | 'shifted' | 'minified' | 'terser' | 'unmapped' | 'bundled';
}

export const thirdVariants: readonly ThirdVariant[] = [
  { name: 'as written', node: 20, way: 'direct', build: 'written' },
  { name: 'shifted, after an await', node: 22, way: 'awaited', build: 'shifted' },
  { name: 'minified, from a timer', node: 26, way: 'timer', build: 'minified' },
  { name: 'terser, from a queue', node: 24, way: 'queue', build: 'terser' },
  { name: 'minified, from an event, no map', node: 22, way: 'event', build: 'unmapped' },
  { name: 'bundled, from a request, no map', node: 24, way: 'http', build: 'bundled' },
];

/** All builds of the program, in `folder`. */
export async function buildThirdSet(folder: string): Promise<void> {
  for (const { build: kind } of thirdVariants) {
    const at = join(folder, 'builds', kind);
    if (existsSync(at)) continue;
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'package.json'), '{"name":"fleet","version":"1.0.0","type":"module"}');
    if (kind === 'written' || kind === 'shifted') {
      writeSource(join(at, 'src'), kind === 'shifted' ? 23 : 0);
      symlinkSync(join(repository, 'node_modules'), join(at, 'node_modules'));
      continue;
    }
    const sources = join(folder, 'sources', kind);
    writeSource(sources, thirdVariants.findIndex((one) => one.build === kind) * 3);
    const outfile = join(at, 'dist', 'main.mjs');
    await build({
      entryPoints: [join(sources, 'main.mjs')],
      outfile,
      bundle: true,
      minify: kind === 'minified' || kind === 'unmapped',
      platform: 'node',
      format: 'esm',
      nodePaths: [join(repository, 'node_modules')],
      banner: {
        js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
      },
      sourcemap: kind === 'minified' || kind === 'terser' ? 'linked' : false,
      logLevel: 'silent',
    });
    if (kind === 'terser') await minifyByTerser(outfile, true);
  }
}

/** Lines are put before each declaration of a module. */
function writeSource(to: string, lines: number): void {
  mkdirSync(to, { recursive: true });
  cpSync(source, to, { recursive: true });
  if (lines === 0) return;
  const note = Array.from({ length: lines }, (_, n) => `// note ${n}\n`).join('');
  for (const name of readdirSync(to))
    writeFileSync(
      join(to, name),
      readFileSync(join(to, name), 'utf8').replace(/^(?=export|const|import)/gm, note),
    );
}

/** The path of the bundle that the death left; undefined if it left none. */
export async function dieOfThird(
  folder: string,
  fault: string,
  variant: ThirdVariant,
): Promise<string | undefined> {
  const number = thirdVariants.indexOf(variant);
  const dumps = join(folder, 'dumps', `${fault}-${number}`);
  if (!existsSync(dumps)) {
    const node = findNode(variant.node);
    if (!node) return undefined;
    mkdirSync(dirname(dumps), { recursive: true });
    const built = join(folder, 'builds', variant.build);
    const main = join(built, existsSync(join(built, 'dist')) ? 'dist' : 'src', 'main.mjs');
    const limit = fault.endsWith('-grows') ? ['--max-old-space-size=40'] : [];
    const child = spawn(node, [...limit, '--require', preload, main], {
      cwd: number % 2 ? built : dirname(main),
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        FAULT: fault,
        WAY: variant.way,
        SEED: String(number + 1),
        AGENTDUMP_DIR: dumps,
        AGENTDUMP_EXITS: 'all',
        AGENTDUMP_HEAP: 'off',
        AGENTDUMP_HANG_MS: fault.endsWith('-hang') ? '1000' : '0',
        AGENTDUMP_MEMORY_PERCENT: '0',
      },
    });
    const limitOfLife = setTimeout(() => child.kill('SIGKILL'), fault.endsWith('-hang') ? 8_000 : 60_000);
    await new Promise((resolve) => child.on('close', resolve));
    clearTimeout(limitOfLife);
  }
  if (!existsSync(dumps)) return undefined;
  const found = readdirSync(dumps).filter((name) => name.endsWith('.agentdump'));
  // A worker's death has a bundle of its own, and one for the program that it ended.
  return found.sort().map((name) => join(dumps, name))[0];
}
