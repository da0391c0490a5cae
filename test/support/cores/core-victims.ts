/**
 * Real cores for tests: runs a program on a given Node in a temporary folder, with the core limit raised, and returns the
 * file that the kernel wrote. Reports why not if this machine sends cores elsewhere.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestNode, testNodes } from '../run/test-nodes.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
export const victims = join(root, 'fixtures', 'programs', 'native');

/** The Nodes of this run, oldest first. */
export const nodes: readonly TestNode[] = testNodes;

/** The reason why no core can be made here, or false. */
export const noCores: string | false = (() => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'cores are read on Linux x64 only';
  const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
  if (pattern.startsWith('|')) return `core_pattern pipes cores into ${pattern.slice(1)}`;
  if (pattern.includes('/')) return `core_pattern puts cores at ${pattern}`;
  const hard = spawnSync('sh', ['-c', 'ulimit -H -c'], { encoding: 'utf8' }).stdout.trim();
  return hard === 'unlimited' ? false : `the hard limit on core size is ${hard}`;
})();

export interface Death {
  /** Path of the core. */
  core: string;
  stdout: string;
  stderr: string;
  signal: string | null;
  /** Deletes the core and its folder. */
  remove(): void;
}

/** Runs `node ...args` until a signal terminates it and leaves a core. Throws if there is no core. */
export function makeCore(
  node: string,
  args: string[],
  { input, env }: { input?: string; env?: Record<string, string> } = {},
): Death {
  const cwd = mkdtempSync(join(tmpdir(), 'agentdump-core-'));
  const result = spawnSync('sh', ['-c', 'ulimit -c unlimited && exec "$0" "$@"', node, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    ...(input === undefined ? {} : { input }),
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  const name = readdirSync(cwd).find((file) => file.startsWith('core'));
  const remove = () => rmSync(cwd, { recursive: true, force: true });
  if (!name) {
    remove();
    throw new Error(
      `no core: status ${result.status}, signal ${result.signal}\n${result.stderr.slice(-2000)}`,
    );
  }
  return {
    core: join(cwd, name),
    stdout: result.stdout,
    stderr: result.stderr,
    signal: result.signal,
    remove,
  };
}
