/**
 * Runs a program for each kind of death that can be tried here, under `agentdump run`, and checks what survives. Also
 * examines what that depends on: where cores are stored, what can be read, whether there is a memory limit.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listBundles } from '../../bundle/finished/list.ts';
import { findMemoryCgroup, readCgroupMemory } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { captureLive } from '../attach/capture-live.ts';
import { makeScrubber } from '../scrub/scrubber.ts';
import { describeCoreDestination, readCoreSettings } from './core-destination.ts';
import { inCgroup, makeTrialCgroup, type TrialCgroup } from './trial-cgroup.ts';
import type { Trial } from './trials.ts';

/** A kind of death that can't be tried here. */
export interface Untried {
  row: number;
  death: string;
  because: string;
}

export interface TrialResult {
  trial: Trial;
  /** Why it can't be tried here. */
  notTried?: string;
  /** Path of the bundle; absent if nothing survived. */
  bundle?: string;
  tookMs: number;
  problem?: string;
}

export interface MachineFact {
  name: string;
  value: string;
  /** The consequence, and the setting that would help; absent if all is well. */
  advice?: string;
}

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const node = process.execPath;
const longestTrialMs = 30_000;

/** Runs one trial in a folder below `scratch`. Never throws. */
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
  const { memoryLimitBytes } = trial;
  const cgroup = memoryLimitBytes === undefined ? undefined : makeTrialCgroup(memoryLimitBytes);
  if (memoryLimitBytes !== undefined && !cgroup)
    return { ...ended(), notTried: 'no memory cgroup of our own can be made here' };
  try {
    await (trial.fromOutside ? captureSpinning(trial, dir) : runToDeath(trial, dir, cgroup));
    return ended();
  } catch (error) {
    return ended(error instanceof Error ? error.message : String(error));
  } finally {
    await removeWhenEmpty(cgroup);
  }
}

/** Retries, because its last process may still be ending. */
async function removeWhenEmpty(cgroup: TrialCgroup | undefined): Promise<void> {
  for (let attempt = 0; cgroup && attempt < 20; attempt++) {
    try {
      return cgroup.remove();
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

export function makeScratch(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'agentdump-doctor-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function newestBundle(dir: string): string | undefined {
  return listBundles(dir).find((bundle) => bundle.state === 'sealed')?.path;
}

function runToDeath(
  { command, environment }: Trial,
  dir: string,
  cgroup: TrialCgroup | undefined,
): Promise<void> {
  const words = [node, agentdump, 'run', '--dir', dir, '--', ...command];
  const [file = '', ...rest] = cgroup ? inCgroup(cgroup, words) : words;
  const child = spawn(file, rest, {
    cwd: dir,
    stdio: 'ignore',
    timeout: longestTrialMs,
    env: { ...cleanEnvironment(), ...environment },
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
    child.kill(signals.kill);
  }
}

/** The user's own settings must not influence the result. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AGENTDUMP|NODE_)/.test(name));
  return Object.fromEntries(kept);
}

/** The settings of this machine that determine how much survives. */
export function examineMachine(dir: string): MachineFact[] {
  const cores = readCoreSettings();
  const { value, advice = false } = describeCoreDestination(cores);
  const ptrace = platform.kernelFile('sys/kernel/yama/ptrace_scope');
  const cgroup = findMemoryCgroup();
  const limit = cgroup === undefined ? undefined : readCgroupMemory(cgroup).maxBytes;
  const disk = freeDiskBytes(dir);
  return [
    fact('core_pattern', cores.pattern, false),
    fact('cores go to', value, advice),
    fact('core limit (soft)', cores.softLimit ?? 'unknown', false),
    fact(
      'core limit (hard)',
      cores.hardLimit ?? 'unknown',
      cores.hardLimit === '0' && 'no core can be kept: raise it (ulimit -H -c, LimitCORE=, --ulimit core=)',
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
  return platform.kernelFile('sys/kernel/dmesg_restrict') === '1' && process.geteuid?.() !== 0
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
