/** One file of proc(5), in a module of its own because even the smallest part of the preload needs it. */
import { readFileSync } from 'node:fs';

/** Fields from the third (state) on, because the second, the name, may contain spaces and parentheses. */
export function readProcStat(pid: number | 'self', tid?: number | string): string[] | undefined {
  try {
    // With UTF-8, Node reads it in a single call.
    const text = readFileSync(`/proc/${pid}${tid === undefined ? '' : `/task/${tid}`}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .trimEnd()
      .split(' ');
  } catch {
    return undefined;
  }
}

/** Clock ticks from the start of the system to that of this process: field 22. */
export function readOwnStartToken(): string | undefined {
  return process.platform === 'linux' ? readProcStat('self')?.[19] : undefined;
}
