/**
 * Enables a core dump of the program by raising its soft limit to the hard limit, from outside, once it runs. Only done if
 * the core can be found afterwards and would not overwrite another file. Sources: core(5), prlimit(1) of util-linux.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CoreObstacle } from '../../bundle/layout/evidence.ts';
import { platform } from '../../platform/index.ts';
import { isOnPath } from '../run/on-path.ts';

/** Why the kernel will write no core: a sentence, and a code. */
export interface NoCore {
  reason: string;
  obstacle: CoreObstacle;
}

/**
 * `ours`: there will be a core only because we raised the limit. `theirs`: there would be one anyway, so it is not ours to
 * remove. `none`: the limits are unknown.
 */
export type CoreArming = 'ours' | 'theirs' | 'none' | NoCore;

/** Never throws. The limit is raised asynchronously, some milliseconds later. */
export function armCore(pid: number, cwd: string): CoreArming {
  const limits = platform.processFile(pid, 'limits') ?? '';
  const [, soft, hard] = /^Max core file size\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  if (hard === '0') return { reason: 'the hard limit on core files is 0', obstacle: 'hard-limit' };
  if (soft === undefined || hard === undefined) return 'none';
  const pattern = platform.kernelFile('sys/kernel/core_pattern') ?? '';
  if (pattern.startsWith('|'))
    return {
      reason: `the kernel gives cores to ${pattern.slice(1).split(' ')[0]}`,
      obstacle: 'collector',
    };
  if (soft !== '0') return 'theirs';
  if (!canRaise())
    return { reason: 'there is no prlimit (util-linux) to raise its limit with', obstacle: 'no-prlimit' };
  if (!isSafePattern(pattern, cwd))
    return { reason: `a core named ${pattern} would replace another file`, obstacle: 'in-the-way' };
  const raising = spawn('prlimit', ['--pid', String(pid), `--core=${hard}:`], { stdio: 'ignore' });
  raising.on('error', () => {});
  raising.unref();
  return 'ours';
}

/** Whether a program started in this folder will leave a core that can be found. */
export function canLeaveCore(cwd: string): boolean {
  const limits = platform.processFile('self', 'limits') ?? '';
  const [, soft, hard] = /^Max core file size\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  const pattern = platform.kernelFile('sys/kernel/core_pattern') ?? '';
  if (soft === undefined || hard === '0' || pattern === '' || pattern.startsWith('|')) return false;
  if (!isWritable(dirname(resolve(cwd, pattern)))) return false;
  return soft !== '0' || (canRaise() && isSafePattern(pattern, cwd));
}

/** Node has no setrlimit, and BusyBox no prlimit. */
const canRaise = () => isOnPath('prlimit', process.env['PATH'] ?? '');

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the core's file name is unique, or not in use yet. */
function isSafePattern(pattern: string, cwd: string): boolean {
  if (pattern === '' || pattern.startsWith('|')) return false;
  if (/%[pP]/.test(pattern) || platform.kernelFile('sys/kernel/core_uses_pid') === '1') return true;
  return !pattern.includes('%') && !existsSync(resolve(cwd, pattern));
}
