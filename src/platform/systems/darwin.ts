/**
 * macOS, and other POSIX systems that don't expose processes as files. Other processes are queried with ps(1), whose options
 * used here are the same on macOS, the BSDs and Linux.
 */
import { basename } from 'node:path';
import type { ListedProcess, Platform } from '../interface.ts';
import { nodeOnly, titleOf } from './node-only.ts';

const psTimeoutMs = 2_000;

/** Standard output of ps; empty if it fails. */
function askPs(words: string[]): string {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const environment = {
    PATH: '/bin:/usr/bin',
    LC_ALL: 'C',
    ...(process.env['TZ'] && { TZ: process.env['TZ'] }),
  };
  const { stdout } = spawnSync('ps', words, { encoding: 'utf8', timeout: psTimeoutMs, env: environment });
  return stdout ?? '';
}

/** Lines of `ps -axo pid=,ppid=,stat=,comm=`. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parentPid, state, program] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (program === undefined || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parentPid: Number(parentPid), program: basename(program) }];
  });
}

export const darwin: Platform = {
  ...nodeOnly,
  name: 'darwin',
  title: titleOf('darwin'),
  opener: (path) => ({ file: 'open', words: [path] }),
  processes: () => parseProcessList(askPs(['-axo', 'pid=,ppid=,stat=,comm='])),
  startedAtMs(pid) {
    const atMs = Date.parse(askPs(['-o', 'lstart=', '-p', String(pid)]).trim());
    return Number.isNaN(atMs) ? nodeOnly.startedAtMs(pid) : atMs;
  },
};
