/**
 * How close the process was to its limits: descriptors, heap, memory of the cgroup and of the machine, processes. Each
 * function returns the use and the limit, or undefined if either is unknown or unlimited. Pure; thresholds are defined
 * elsewhere.
 */
import type { ProcessFacts } from '../model/account.ts';
import type { HandlesPartFacts, MemoryPartFacts } from './parts/surroundings.ts';

export interface Headroom {
  used: number;
  limit: number;
  /** used / limit. */
  share: number;
  /** The part that contains the use. */
  part: string;
}

export interface Surroundings {
  process?: ProcessFacts;
  memory?: MemoryPartFacts;
  handles?: HandlesPartFacts;
}

/**
 * Open file descriptors against RLIMIT_NOFILE (soft), which limits their numbers: inherited ones above it are not counted.
 */
export function descriptorHeadroom({ process, handles }: Surroundings): Headroom | undefined {
  const name = Object.keys(process?.limits ?? {}).find((n) => /open.?files|nofile/i.test(n));
  const soft = name === undefined ? undefined : process?.limits?.[name]?.soft;
  const limit = Number(soft);
  const above = handles?.descriptors?.filter(({ fd }) => fd >= limit).length ?? 0;
  const count = handles?.descriptorCount;
  return headroom(count && Math.min(count - above, limit), limit, 'handles.json');
}

/** V8's used heap against its limit. */
export function heapHeadroom({ memory }: Surroundings): Headroom | undefined {
  const used = memory?.heap?.['used_heap_size'] ?? memory?.usage?.['heapUsed'];
  return headroom(used, memory?.heap?.['heap_size_limit'], 'memory.json');
}

/** Memory charged to the cgroup against its limit. */
export function cgroupHeadroom({ process }: Surroundings): Headroom | undefined {
  return (
    cgroupPair(process, 'memory.current', 'memory.max') ??
    cgroupPair(process, 'memory/memory.usage_in_bytes', 'memory/memory.limit_in_bytes')
  );
}

/** Processes and threads of the cgroup against its limit. */
export function processCountHeadroom({ process }: Surroundings): Headroom | undefined {
  return cgroupPair(process, 'pids.current', 'pids.max');
}

/** Memory of the machine that is no longer available, against its total. */
export function machineHeadroom({ memory }: Surroundings): Headroom | undefined {
  const { totalBytes, availableBytes } = memory?.system ?? {};
  const used =
    totalBytes === undefined || availableBytes === undefined ? undefined : totalBytes - availableBytes;
  return headroom(used, totalBytes, 'memory.json');
}

function cgroupPair(process: ProcessFacts | undefined, current: string, max: string): Headroom | undefined {
  const cgroup = process?.cgroup;
  if (!cgroup || !(current in cgroup)) return undefined;
  return headroom(Number(cgroup[current]), Number(cgroup[max]), 'process.json');
}

/** Unlimited values return undefined: `unlimited` and `max` have become NaN, and cgroup v1 uses a number near 2^63. */
function headroom(used: number | undefined, limit: number | undefined, part: string): Headroom | undefined {
  if (used === undefined || limit === undefined) return undefined;
  if (!(used >= 0) || !(limit > 0 && limit < 2 ** 60)) return undefined;
  return { used, limit, share: used / limit, part };
}
