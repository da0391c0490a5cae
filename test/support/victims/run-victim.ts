/** Runs a program of fixtures/programs in a child process, with or without the preload, and returns how it ended. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testNodes } from '../run/test-nodes.ts';
import { readProc } from './proc-state.ts';
import type { Victim } from './victims.ts';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
export const preload = join(root, 'dist', 'register.cjs');
export const programs = join(root, 'fixtures', 'programs');

export interface NodeBinary {
  name: string;
  path: string;
}

export const findNodes = (): readonly NodeBinary[] => testNodes;

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  /** Without agentdump's own lines. */
  stderr: string;
  /** The lines of agentdump. */
  ownLines: string[];
}

export interface RunOptions {
  preload: boolean;
  /** The working directory; bundles go to `dumps` in it. */
  dir: string;
  env?: Record<string, string>;
}

/** A temporary folder that is removed after the test. */
export function temporaryFolder(test: { after(cleanUp: () => void): void }): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  test.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}

const lifeLimitMs = 60_000;

export function runVictim(node: NodeBinary, victim: Victim, options: RunOptions): Promise<Outcome> {
  const command = [...(victim.flags ?? []), join(programs, victim.file), ...(victim.args ?? [])];
  const limits = [
    victim.maxDescriptors === undefined ? '' : `ulimit -n ${victim.maxDescriptors}; `,
    victim.maxFileBlocks === undefined ? '' : `ulimit -f ${victim.maxFileBlocks}; `,
    victim.maxAddressKilobytes === undefined ? '' : `ulimit -v ${victim.maxAddressKilobytes}; `,
  ].join('');
  const child = spawn('/bin/sh', ['-c', `${limits}exec "$@"`, 'sh', node.path, ...command], {
    cwd: options.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: options.dir,
      VICTIM_TMP: options.dir,
      AGENTDUMP_DIR: join(options.dir, 'dumps'),
      ...(options.preload ? { NODE_OPTIONS: `--require ${preload}` } : {}),
      ...victim.env,
      ...options.env,
    },
  });
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    let isSent = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (isSent || victim.signal === undefined || !stdout.includes('ready\n')) return;
      isSent = true;
      const { signal } = victim;
      const isHeard = options.preload && victim.bundles.length > 0;
      void (isHeard ? untilHeard(child.pid, signal) : Promise.resolve()).then(() => child.kill(signal));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
    child.on('error', reject).on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, ...splitOwnLines(stderr) });
    });
  });
}

/**
 * Waits until the watchdog has installed its signal handlers: before that the signal kills the process, with or without the
 * preload. Looks at SigCgt of proc(5) for the last signal that the watchdog handles, because Node itself catches SIGTERM.
 */
export async function untilHeard(pid: number | undefined, signal: NodeJS.Signals): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal === 'SIGUSR2' ? signal : 'SIGQUIT'] - 1);
  for (const until = Date.now() + lifeLimitMs; Date.now() < until; ) {
    const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readProc(pid, 'status'))?.[1];
    if (mask === undefined || (BigInt(`0x${mask}`) & bit) !== 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function splitOwnLines(stderr: string): Pick<Outcome, 'stderr' | 'ownLines'> {
  const lines = stderr.split('\n');
  const isOwn = (line: string): boolean => line.startsWith('agentdump:');
  return { stderr: lines.filter((line) => !isOwn(line)).join('\n'), ownLines: lines.filter(isOwn) };
}

/** Names of the bundles in a run's folder, and of any unfinished or temporary ones that should not be there. */
export function bundlesIn(dir: string): string[] {
  const dumps = join(dir, 'dumps');
  if (!existsSync(dumps)) return [];
  return readdirSync(dumps)
    .filter((name) => name.includes('.agentdump') && !name.endsWith('.sequel'))
    .sort();
}

/** `20261121T…Z-program-uncaught-exception-1a2b3c4d.agentdump` → `uncaught-exception`. */
export function kindOfBundle(name: string, kinds: readonly string[]): string {
  const fitting = kinds.filter((kind) => new RegExp(`-${kind}-[0-9a-f]{8}\\.agentdump$`).test(name));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? `(${name})`;
}
