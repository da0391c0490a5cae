/** Files of proc(5), in a module of its own because even the smallest part of the preload needs one of them. */
import { readFileSync } from 'node:fs';

const { apply } = Reflect;
/** The preload reads its own stat while the program exits, and a method that the program has replaced could change how it ends. */
const { lastIndexOf, slice, split, trimEnd } = String.prototype;

/** Fields from the third (state) on, because the second, the name, may contain spaces and parentheses. */
export function readProcStat(pid: number | 'self', tid?: number | string): string[] | undefined {
  try {
    // With UTF-8, Node reads it in a single call.
    const text = readFileSync(`/proc/${pid}${tid === undefined ? '' : `/task/${tid}`}/stat`, 'utf8');
    const rest = apply(slice, text, [apply(lastIndexOf, text, [')']) + 2]);
    return apply(split, apply(trimEnd, rest, []), [' ']);
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

/** RLIMIT_AS (`ulimit -v`), see getrlimit(2). Read at load time, when the program has not replaced anything yet. */
const addressLimitBytes = readAddressLimit();

/**
 * What the limit leaves, in bytes, counting memory that is reserved and never used; Infinity without a limit, or if it is not
 * known. Never throws. V8 and the C++ library abort the process if they can't map more.
 */
export function addressRoomBytes(): number {
  if (addressLimitBytes === undefined) return Number.POSITIVE_INFINITY;
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const at = status.indexOf('VmSize:') + 7;
    return addressLimitBytes - Number(status.slice(at, status.indexOf('kB', at))) * 1024;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** A line of /proc/self/limits has columns of 26 and 21 characters. */
function readAddressLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const at = limits.indexOf('Max address space') + 26;
    const limit = Number(limits.slice(at, at + 21));
    return Number.isFinite(limit) ? limit : undefined;
  } catch {
    return undefined;
  }
}
