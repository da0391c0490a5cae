/**
 * Dies in every way that can be tried here, each time in a program of its own under `agentdump run`, and looks what
 * survives. And what of this machine decides it: where cores go, what may be read, whether there is a memory limit.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../bundle/list.ts';
import { readSmallFile } from '../capture/proc-files.ts';
import { findMemoryCgroup, readCgroupMemory } from '../journal/cgroup.ts';
import { captureLive } from './capture-live.ts';
import { makeScrubber } from './scrubber.ts';

export interface Trial {
  /** Row of the table of deaths, in README. */
  row: number;
  death: string;
  /** Verdict that must come out. */
  expected: string;
  /** Words after `agentdump run --`. */
  command: readonly string[];
  /** Spins until it is captured from outside. */
  fromOutside?: boolean;
}

export interface TrialResult {
  trial: Trial;
  /** Path of the bundle; absent when nothing survived. */
  bundle?: string;
  tookMs: number;
  problem?: string;
}

export interface MachineFact {
  name: string;
  value: string;
  /** What it costs, and the setting that would help; absent when it is fine. */
  advice?: string;
}

const node = process.execPath;
const code = (text: string) => [node, '-e', text];
const workerCode =
  'new (require("worker_threads").Worker)("throw new Error(1)", { eval: true }).on("error", () => {})';

/** The rows that can be tried without harm, on any machine. */
export const trials: readonly Trial[] = [
  {
    row: 1,
    death: 'uncaught exception',
    expected: 'uncaught-exception',
    command: code('throw new Error("doctor")'),
  },
  {
    row: 2,
    death: 'unhandled rejection',
    expected: 'unhandled-rejection',
    command: code('Promise.reject(new Error("doctor"))'),
  },
  {
    row: 3,
    death: 'SIGTERM',
    expected: 'terminated',
    command: code('setInterval(() => {}, 1000); setTimeout(() => process.kill(process.pid, "SIGTERM"), 50)'),
  },
  {
    row: 4,
    death: 'snapshot of a live program, it goes on',
    expected: 'snapshot',
    command: code('setTimeout(() => {}, 400); setTimeout(() => process.kill(process.pid, "SIGUSR2"), 50)'),
  },
  { row: 5, death: 'process.exit(3)', expected: 'exit', command: code('process.exit(3)') },
  {
    row: 5,
    death: 'a top-level await that never settles',
    expected: 'pending-exit',
    command: [node, '--input-type=module', '-e', 'await new Promise(() => {})'],
  },
  {
    row: 6,
    death: 'JavaScript heap out of memory',
    expected: 'heap-out-of-memory',
    command: [
      node,
      '--max-old-space-size=40',
      '-e',
      'const a = []; for (;;) a.push(new Array(1000).fill(1.5))',
    ],
  },
  { row: 8, death: 'SIGKILL', expected: 'killed', command: code('process.kill(process.pid, "SIGKILL")') },
  {
    row: 9,
    death: 'native crash (stack overflow)',
    expected: 'native-crash',
    command: [node, '--stack-size=60000', '-e', 'function f() { f(); } f()'],
  },
  { row: 10, death: 'abort', expected: 'abort', command: code('process.abort()') },
  {
    row: 11,
    death: 'busy loop, captured from outside',
    expected: 'snapshot',
    command: code('for (;;);'),
    fromOutside: true,
  },
  {
    row: 14,
    death: 'module not found at start',
    expected: 'startup-failure',
    command: code('require("no-such-module-of-the-doctor")'),
  },
  { row: 15, death: 'a worker thread dies', expected: 'worker-death', command: code(workerCode) },
  {
    row: 17,
    death: 'out of file descriptors',
    expected: 'resource-exhaustion',
    command: [
      '/bin/sh',
      '-c',
      `ulimit -n 64; exec "${node}" -e 'for (;;) require("fs").openSync(process.execPath)'`,
    ],
  },
];

/** What can't be tried without harm to the machine, or is not there yet. */
export const notTried: readonly { row: number; death: string; because: string }[] = [
  { row: 7, death: "kernel's out-of-memory kill", because: 'needs a cgroup of its own' },
  { row: 12, death: 'alive but no progress', because: 'the deadline is set by the program' },
  { row: 13, death: 'memory near its limit', because: 'not watched yet' },
  { row: 16, death: 'a child process dies', because: 'not watched yet' },
];

const agentdump = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const longestTrialMs = 20_000;

/** Runs one trial in a folder below `scratch`; never throws. */
export async function tryDeath(trial: Trial, scratch: string): Promise<TrialResult> {
  const dir = mkdtempSync(join(scratch, 'trial-'));
  const startedAt = performance.now();
  const ended = (problem?: string): TrialResult => {
    const path = newestBundle(dir);
    const tookMs = Math.round(performance.now() - startedAt);
    return {
      trial,
      tookMs,
      ...(path !== undefined && { bundle: path }),
      ...(problem !== undefined && { problem }),
    };
  };
  try {
    await (trial.fromOutside ? captureSpinning(trial, dir) : runToDeath(trial, dir));
    return ended();
  } catch (error) {
    return ended(error instanceof Error ? error.message : String(error));
  }
}

export function makeScratch(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'agentdump-doctor-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function newestBundle(dir: string): string | undefined {
  return listBundles(dir).find((bundle) => bundle.state === 'sealed')?.path;
}

function runToDeath({ command }: Trial, dir: string): Promise<void> {
  const child = spawn(node, [agentdump, 'run', '--dir', dir, '--', ...command], {
    cwd: dir,
    stdio: 'ignore',
    timeout: longestTrialMs,
    env: cleanEnvironment(),
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

async function captureSpinning({ command }: Trial, dir: string): Promise<void> {
  const [file = '', ...words] = command;
  const child = spawn(file, words, {
    cwd: dir,
    stdio: 'ignore',
    timeout: longestTrialMs,
    env: cleanEnvironment(),
  });
  try {
    await new Promise((done) => setTimeout(done, 300));
    await captureLive({ pid: child.pid ?? 0, dir, scrubber: makeScrubber({}), reason: 'doctor' });
  } finally {
    child.kill('SIGKILL');
  }
}

/** The user's own settings must not decide whether the machine can be helped. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AGENTDUMP|NODE_)/.test(name));
  return Object.fromEntries(kept);
}

/** What of this machine decides how much survives. */
export function examineMachine(dir: string): MachineFact[] {
  const pattern = readSmallFile('/proc/sys/kernel/core_pattern')?.trim() ?? '';
  const ptrace = readSmallFile('/proc/sys/kernel/yama/ptrace_scope')?.trim();
  const coreLimit = /^Max core file size\s+(\S+)\s+(\S+)/m.exec(readSmallFile('/proc/self/limits') ?? '');
  const cgroup = findMemoryCgroup();
  const limit = cgroup === undefined ? undefined : readCgroupMemory(cgroup).maxBytes;
  const disk = freeDiskBytes(dir);
  return [
    fact(
      'core_pattern',
      pattern,
      pattern.startsWith('|') && 'a native crash’s core goes to that program: look there',
    ),
    fact(
      'core limit (hard)',
      coreLimit?.[2] ?? 'unknown',
      coreLimit?.[2] === '0' && 'no core can be kept: raise it (ulimit -H -c, LimitCORE=, --ulimit core=)',
    ),
    fact(
      'ptrace scope',
      ptrace ?? 'not restricted',
      Number(ptrace) > 1 && 'memory of other processes can’t be read',
    ),
    fact(
      'kernel log',
      readableKernelLog(),
      readableKernelLog() === 'hidden' &&
        'an out-of-memory kill is then told by counters only, which is likely and not certain',
    ),
    fact(
      'memory limit',
      limit === undefined ? 'none' : `${Math.round(limit / 2 ** 20)} MiB`,
      limit === undefined && 'without a limit of its own the program can take the machine’s memory',
    ),
    fact(
      'free disk',
      `${Math.round(disk / 2 ** 20)} MiB`,
      disk < 512 * 2 ** 20 && 'bundles may be cut short',
    ),
    fact(
      'pid 1',
      process.pid === 1 ? 'agentdump itself' : 'another',
      process.pid === 1 && 'orphans are not reaped: start the container with --init',
    ),
  ];
}

function fact(name: string, value: string, advice: string | false): MachineFact {
  return { name, value, ...(advice && { advice }) };
}

function readableKernelLog(): string {
  return readSmallFile('/proc/sys/kernel/dmesg_restrict')?.trim() === '1' && process.geteuid?.() !== 0
    ? 'hidden'
    : 'readable';
}

function freeDiskBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
