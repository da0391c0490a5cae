/**
 * Whether Linux would allow this process another thread: the pids controller of cgroups (admin-guide/cgroup-v2, "PID"), and
 * RLIMIT_NPROC. Unreadable limits are ignored.
 */
import { dirname } from 'node:path';
import { readSmallFile } from './small-file.ts';
import { findGroupPath } from './systems/proc-files.ts';

/** Our thread, and one that may be started elsewhere at the same time. */
const wanted = 2;

export function hasThreadRoom(groupMount: string): boolean {
  return isBelowNprocLimit() && groupsOfTasks(groupMount).every(hasRoomIn);
}

/**
 * The kernel counts the tasks of the user. The number of all tasks on the machine is an upper bound, and takes a single read.
 */
function isBelowNprocLimit(): boolean {
  const limit = /^Max processes\s+(\d+)\s/m.exec(readSmallFile('/proc/self/limits') ?? '')?.[1];
  // Root is exempt.
  if (limit === undefined || process.geteuid?.() === 0) return true;
  const tasks = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(readSmallFile('/proc/loadavg') ?? '')?.[1];
  return tasks === undefined || Number(tasks) + wanted <= Number(limit);
}

/** The group and its ancestors: each limit applies. In a container without a cgroup namespace only the root is mounted. */
function groupsOfTasks(mount: string): string[] {
  const group = findGroupPath(readSmallFile('/proc/self/cgroup'), 'pids', mount);
  if (!group) return [];
  const groups: string[] = [];
  for (let at = group.root + group.path; at.startsWith(group.root); at = dirname(at)) groups.push(at);
  return groups;
}

/** The file contains `max` if there is no limit. */
function hasRoomIn(group: string): boolean {
  const limit = Number.parseInt(readSmallFile(`${group}/pids.max`) ?? '', 10);
  const used = Number.parseInt(readSmallFile(`${group}/pids.current`) ?? '', 10);
  return !(used + wanted > limit);
}
