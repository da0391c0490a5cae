/**
 * A memory cgroup of our own, below the one that the tests run in: what is started in it is killed by the kernel when it
 * takes more. Needs the right to make one (root, with cgroup v1, or v2 where the memory controller is handed down).
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMemoryCgroup, readCgroupMemory } from '../../src/platform/cgroup.ts';

export interface MemoryCgroup {
  path: string;
  /** The command line, to be run in the group: `[file, words]`. */
  within(file: string, words: readonly string[]): [string, string[]];
  /** Times that the kernel killed in it. */
  oomKills(): number;
  remove(): void;
}

let made = 0;

/** Undefined where none can be made. */
export function makeMemoryCgroup(limitBytes: number): MemoryCgroup | undefined {
  const parent = findMemoryCgroup();
  if (parent === undefined) return undefined;
  const path = join(parent, `agentdump-test-${process.pid}-${made++}`);
  try {
    mkdirSync(path);
    const limit = ['memory.max', 'memory.limit_in_bytes'].find((name) => existsSync(join(path, name)));
    if (limit === undefined) throw new Error('the memory controller is not handed down');
    writeFileSync(join(path, limit), String(Math.round(limitBytes)));
  } catch {
    remove(path);
    return undefined;
  }
  return {
    path,
    within: (file, words) => [
      '/bin/sh',
      ['-c', `echo $$ > '${path}/cgroup.procs' && exec "$@"`, 'sh', file, ...words],
    ],
    oomKills: () => readCgroupMemory(path).oomKills ?? countedInEvents(path),
    remove: () => remove(path),
  };
}

function countedInEvents(path: string): number {
  const text = readFileSync(join(path, 'memory.events'), 'utf8');
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

function remove(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Never made; or what ran in it has not quite gone: an empty group costs nothing.
  }
}
