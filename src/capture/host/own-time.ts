/**
 * How long work took us, excluding the wait for a processor: on a busy machine a wall-clock limit drops what would have been
 * done in time. Measured as CPU time of this thread if Node provides it (22.19, 24), else of the process.
 */
export interface OwnTime {
  /** Milliseconds of CPU since the start, at most those of the clock. Does not advance while we wait for a disk. */
  usedMs(): number;
  wallMs(): number;
  /** Wall-clock time divided by the time of our own work, as far as it was measured. */
  slowness(): number;
}

/** With less CPU time than this, it is not known how busy the machine is. */
const leastSeenMs = 20;
const unseenSlowness = 2;
const mostSlowness = 20;

type ThreadClock = { threadCpuUsage?(): NodeJS.CpuUsage };

export function ownTime(): OwnTime {
  const from = readCpuMs();
  const fromWall = performance.now();
  const wallMs = (): number => performance.now() - fromWall;
  const usedMs = (): number => Math.min(readCpuMs() - from, wallMs());
  return {
    usedMs,
    wallMs,
    slowness: () => (usedMs() < leastSeenMs ? unseenSlowness : Math.min(mostSlowness, wallMs() / usedMs())),
  };
}

function readCpuMs(): number {
  const thread = (process as ThreadClock).threadCpuUsage;
  const { user, system } = thread ? Reflect.apply(thread, process, []) : process.cpuUsage();
  return (user + system) / 1000;
}
