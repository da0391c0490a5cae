/**
 * A memory cgroup of a trial's own, below the one that we are in and so within its bounds: where the kernel lets us make
 * one, its out-of-memory killer can be met in earnest. cgroup v1 and v2; sources as for journal/cgroup.ts.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMemoryCgroup } from '../../platform/cgroup.ts';

export interface TrialCgroup {
  /** A process that writes its id here is in it. */
  procsFile: string;
  /** Throws while a process is in it. */
  remove(): void;
}

/** v2, then v1; the second is missing in kernels that have no limit on swap. */
const limitNames = ['memory.max', 'memory.limit_in_bytes'];
const swapNames = ['memory.swap.max', 'memory.memsw.limit_in_bytes'];

/** Undefined where the kernel, or whoever confines us, does not let us. */
export function makeTrialCgroup(limitBytes: number): TrialCgroup | undefined {
  const own = findMemoryCgroup();
  if (own === undefined) return undefined;
  const folder = join(own, `agentdump-trial-${process.pid}-${limitBytes}`);
  const remove = (): void => rmdirSync(folder);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  const limit = limitNames.map((name) => join(folder, name)).find((path) => existsSync(path));
  const swap = swapNames.map((name) => join(folder, name)).find((path) => existsSync(path));
  try {
    if (limit === undefined) throw new Error('it limits nothing');
    writeFileSync(limit, String(limitBytes));
    if (swap !== undefined) writeFileSync(swap, swap.endsWith('swap.max') ? '0' : String(limitBytes));
    return { procsFile: join(folder, 'cgroup.procs'), remove };
  } catch {
    remove();
    return undefined;
  }
}

/** Words that run the command in it. */
export function inCgroup({ procsFile }: TrialCgroup, command: readonly string[]): string[] {
  return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', procsFile, ...command];
}
