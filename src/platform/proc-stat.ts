/** One file of proc(5) that also the smallest of the preload's parts needs. */
import { readFileSync } from 'node:fs';

/** Fields from the third (state) on: the second, the name, may hold spaces and parentheses. */
export function readProcStat(pid: number | 'self', tid?: number | string): string[] | undefined {
  try {
    // As UTF-8 Node reads it in one call.
    const text = readFileSync(`/proc/${pid}${tid === undefined ? '' : `/task/${tid}`}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .trimEnd()
      .split(' ');
  } catch {
    return undefined;
  }
}

/** Clock ticks from the system's start to this process's: field 22. */
export function readOwnStartToken(): string | undefined {
  return process.platform === 'linux' ? readProcStat('self')?.[19] : undefined;
}
