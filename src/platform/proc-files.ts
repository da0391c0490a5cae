/** Files of proc(5), in a module of its own because even the smallest part of the preload needs one of them. */
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

/** See cgroups(7), "/proc/[pid]/cgroup". */
export interface GroupPath {
  /** Where the controller's hierarchy is mounted. */
  root: string;
  /** Path of the group in it, starting with a slash. */
  path: string;
  isV1: boolean;
}

/**
 * The cgroup of a controller. `text`: of /proc/<pid>/cgroup. In version 1 if one of its hierarchies has the controller.
 * Undefined without a group.
 */
export function findGroupPath(
  text: string | undefined,
  controller: string,
  mount: string,
): GroupPath | undefined {
  const lines = text?.split('\n') ?? [];
  const v1 = lines.find((line) => line.split(':')[1]?.split(',').includes(controller));
  const line = v1 ?? lines.find((one) => one.startsWith('0::'));
  if (line === undefined) return undefined;
  const path = line.split(':').slice(2).join(':');
  return { root: v1 ? `${mount}/${controller}` : mount, path, isV1: v1 !== undefined };
}
