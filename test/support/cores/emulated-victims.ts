/**
 * arm64 cores on an x86-64 machine: qemu runs the Node of an arm64 package and itself writes the core of the program that
 * dies in it. Debian packages: qemu-user-static, and the -arm64-cross variants of libc6, libstdc++6, libgcc-s1 and
 * libatomic1.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Death } from './core-victims.ts';

const installed = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'emulated', 'node_modules');
const qemu = 'qemu-aarch64-static';
/** Where Debian installs the arm64 libraries. */
export const arm64Root = '/usr/aarch64-linux-gnu';

export const emulatedNodes: readonly { major: number; path: string }[] = [20, 22, 24, 26].map((major) => ({
  major,
  path: join(installed, `node-${major}`, 'bin', 'node'),
}));

/** The reason why nothing can be run here, or false. */
export const noEmulation: string | false = (() => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'arm64 is emulated on Linux x64 only';
  if (spawnSync(qemu, ['--version']).status !== 0) return `${qemu} is not installed`;
  const missing = ['libstdc++.so.6', 'libatomic.so.1'].find(
    (name) => !existsSync(`${arm64Root}/lib/${name}`),
  );
  if (missing) return `the arm64 ${missing} is not installed`;
  return emulatedNodes.every(({ path }) => existsSync(path))
    ? false
    : 'the arm64 Nodes are not installed (npm ci --force --prefix test/emulated)';
})();

/**
 * Runs `node ...args` until a signal terminates it. `processor`: with `max` (the default) the C++ code of newer Nodes signs
 * its return addresses, with `cortex-a57` it does not. Throws if there is no core.
 */
export function makeEmulatedCore(node: string, args: string[], processor = 'max'): Death {
  const cwd = mkdtempSync(join(tmpdir(), 'agentdump-core-'));
  const command = [qemu, '-cpu', processor, '-L', arm64Root, node, ...args];
  const result = spawnSync('sh', ['-c', 'ulimit -c unlimited && exec "$0" "$@"', ...command], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const remove = () => rmSync(cwd, { recursive: true, force: true });
  const name = readdirSync(cwd).find((file) => /^qemu_.*\.core$/.test(file));
  if (!name) {
    remove();
    throw new Error(
      `no core: status ${result.status}, signal ${result.signal}\n${result.stderr.slice(-2000)}`,
    );
  }
  // The kernel's core of qemu itself.
  rmSync(join(cwd, 'core'), { force: true });
  return {
    core: join(cwd, name),
    stdout: result.stdout,
    stderr: result.stderr,
    signal: result.signal,
    remove,
  };
}
