/** What /proc says of a process that may be gone by the time it is read. */
import { readFileSync } from 'node:fs';

/** A file of its folder; empty once it is gone, also between the look and the reading. */
export function readProc(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** `T` for stopped, `Z` for a zombie, … of proc(5); `gone` where there is none. */
export function stateOf(pid: number): string {
  return /\) (\w)/.exec(readProc(pid, 'stat'))?.[1] ?? 'gone';
}
