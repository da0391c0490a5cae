/** Runs a program as if on another operating system, with /proc hidden from it if we are root. */
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preload, untilHeard } from '../victims/run-victim.ts';

const pretender = join(dirname(fileURLToPath(import.meta.url)), 'pretend-platform.cjs');
const hiding = ['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];

/** Whether a mount namespace with an empty /proc can be created. */
export const canHideProc = spawnSync('unshare', [...hiding, 'true']).status === 0;

export const pretendedPlatforms = ['darwin', 'win32', 'linux'] as const;

export interface Pretence {
  platform: (typeof pretendedPlatforms)[number];
  /** Possible only if `canHideProc`. */
  isProcHidden: boolean;
}

/** All combinations that are possible on this machine; linux itself only with /proc hidden. */
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
  /** Runs without the preload. */
  isBare?: boolean;
  /** Sent once the program has printed `ready`. */
  signal?: NodeJS.Signals;
}

const lifeLimitMs = 120_000;

/** `words` are the arguments of Node. */
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
      // Windows takes its temporary folder from this variable.
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
      // Until the watchdog has installed its handler, the signal kills the process, with or without the preload.
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
