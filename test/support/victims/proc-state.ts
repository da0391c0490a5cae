/** Reads /proc of a process that may be gone by then. */
import { readFileSync } from 'node:fs';

/** The contents of a file of /proc/<pid>; empty if the process is gone, even if it exits during the read. */
export function readProc(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** The state letter of proc(5), e.g. `T` for stopped, `Z` for a zombie; `gone` if there is no such process. */
export function stateOf(pid: number): string {
  return /\) (\w)/.exec(readProc(pid, 'stat'))?.[1] ?? 'gone';
}
