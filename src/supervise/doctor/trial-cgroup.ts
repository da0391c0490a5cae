/**
 * A memory cgroup for a trial, below our own and therefore within its limits. Where the kernel permits creating one, its
 * out-of-memory killer can be tried. cgroup v1 and v2; for sources see platform/cgroup.ts.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMemoryCgroup } from '../../platform/cgroup.ts';

export interface TrialCgroup {
  /** A process that writes its pid to this file joins the cgroup. */
  procsFile: string;
  /** Throws while the cgroup has processes. */
  remove(): void;
}

/** v2, then v1. The swap limit is missing in some kernels. */
const limitNames = ['memory.max', 'memory.limit_in_bytes'];
const swapNames = ['memory.swap.max', 'memory.memsw.limit_in_bytes'];

/** Undefined if we are not permitted to create one. */
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

/** A command line that runs the command in the cgroup. */
export function inCgroup({ procsFile }: TrialCgroup, command: readonly string[]): string[] {
  return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', procsFile, ...command];
}
