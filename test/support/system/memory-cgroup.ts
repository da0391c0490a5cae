/**
 * A memory cgroup below the one that the tests run in: the kernel kills what is started in it when it exceeds the limit.
 * Needs permission to create one (root, with cgroup v1, or with v2 if the memory controller is delegated).
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMemoryCgroup, readCgroupMemory } from '../../../src/platform/cgroup.ts';

export interface MemoryCgroup {
  path: string;
  /** The command line that runs a program in the group: `[file, args]`. */
  within(file: string, words: readonly string[]): [string, string[]];
  /** How often the kernel has killed a process in it. */
  oomKills(): number;
  remove(): void;
}

let made = 0;

/** Undefined if none can be created. */
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
    // Never created, or a process in it has not quite exited. An empty group costs nothing.
  }
}
