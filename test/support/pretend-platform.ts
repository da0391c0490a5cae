/** Runs a program that takes itself for one on another system, where root may with /proc hidden from it. */
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preload, untilHeard } from './run-victim.ts';

const pretender = join(dirname(fileURLToPath(import.meta.url)), 'pretend-platform.cjs');
const hiding = ['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];

/** A mount namespace in which /proc is an empty folder. */
export const canHideProc = spawnSync('unshare', [...hiding, 'true']).status === 0;

export const pretendedPlatforms = ['darwin', 'win32', 'linux'] as const;

export interface Pretence {
  platform: (typeof pretendedPlatforms)[number];
  /** Only where `canHideProc`. */
  isProcHidden: boolean;
}

/** All that can be had on this machine; linux itself only where /proc is hidden from it. */
export const pretences: readonly Pretence[] = pretendedPlatforms.flatMap((platform) => [
  ...(platform === 'linux' || canHideProc ? [] : [{ platform, isProcHidden: false }]),
  ...(canHideProc ? [{ platform, isProcHidden: true }] : []),
]);

export const nameOf = ({ platform, isProcHidden }: Pretence): string =>
  `${platform}, /proc ${isProcHidden ? 'hidden' : 'there'}`;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface PretendOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Leaves the preload out. */
  isBare?: boolean;
  /** Sent when the program has printed `ready`. */
  signal?: NodeJS.Signals;
}

const lifeLimitMs = 120_000;

/** `words` follow the path of Node. */
export function pretend(
  { platform, isProcHidden }: Pretence,
  words: readonly string[],
  { cwd, env, isBare, signal }: PretendOptions,
): Promise<Ended> {
  const loaded = [pretender, ...(isBare ? [] : [preload])].map((file) => `--require ${file}`);
  const command = [process.execPath, ...words];
  const [file = '', ...rest] = isProcHidden ? ['unshare', ...hiding, ...command] : command;
  const child = spawn(file, rest, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: cwd,
      TZ: 'UTC',
      VICTIM_TMP: cwd,
      // Where Windows has its folder for temporary files.
      TEMP: tmpdir(),
      AGENTDUMP_DIR: join(cwd, 'dumps'),
      AGENTDUMP_HEAP: 'off',
      PRETEND_PLATFORM: platform,
      NODE_OPTIONS: loaded.join(' '),
      ...env,
    },
  });
  return new Promise((resolve, reject) => {
    const texts = { stdout: '', stderr: '' };
    let isSent = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      texts.stdout += text;
      if (isSent || signal === undefined || !texts.stdout.includes('ready\n')) return;
      isSent = true;
      // Before the watchdog hears it, it kills, with or without the preload.
      void (isBare ? Promise.resolve() : untilHeard(child.pid, signal)).then(() => child.kill(signal));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      texts.stderr += text;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
    child.on('error', reject).on('close', (code, ended) => {
      clearTimeout(timer);
      resolve({ code, signal: ended, ...texts });
    });
  });
}
