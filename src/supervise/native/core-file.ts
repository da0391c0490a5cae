/**
 * Finds the core that the kernel may have written for a process. Its location follows from core_pattern (core(5)): a file
 * name with % specifiers, relative to the working directory of the process, or a pipe to a program that stores it by its own
 * rules.
 */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { CoreEvidence } from '../../bundle/layout/evidence.ts';
import { platform } from '../../platform/index.ts';

export interface DeadProcess {
  pid: number;
  /** Working directory at the start; the process may have changed it since. */
  cwd: string;
  /** First word of its command. */
  executable: string;
  startedAtMs: number;
}

export function findCore(dead: DeadProcess): CoreEvidence {
  const pattern = platform.kernelFile('sys/kernel/core_pattern') ?? '';
  if (pattern === '') return { pattern, reason: 'core_pattern is empty' };
  if (pattern.startsWith('|'))
    return { pattern, reason: `the kernel gave it to ${pattern.slice(1).split(' ')[0]}` };
  for (const name of namesFor(pattern, dead)) {
    const path = resolve(dead.cwd, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.size > 0 && stat.mtimeMs >= dead.startedAtMs)
      return { pattern, path, bytes: stat.size };
  }
  return { pattern, reason: `no core in ${dead.cwd}: the limit on core files, or another working directory` };
}

/** With `core_uses_pid` the kernel appends the pid to a pattern without %p. */
function namesFor(pattern: string, { pid, executable }: DeadProcess): string[] {
  const known: Record<string, string> = {
    p: String(pid),
    P: String(pid),
    e: basename(executable).slice(0, 15),
    '%': '%',
  };
  const name = pattern.replace(/%(.)/g, (whole, letter: string) => known[letter] ?? whole);
  return [name, `${name}.${pid}`];
}
