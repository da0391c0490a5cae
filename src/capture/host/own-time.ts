/**
 * How long a piece of work took us, not how long we waited for a processor: on a busy machine a limit by the clock drops what
 * would have been done in time. By this thread's CPU time where Node tells it (22.19, 24), else the process's.
 */
export interface OwnTime {
  /** Milliseconds of CPU since the start, at most those of the clock. Stands still while we wait for a disk. */
  usedMs(): number;
  wallMs(): number;
  /** So many times as long as our work our waiting for a processor makes it, as far as this was seen. */
  slowness(): number;
}

/** Before it nothing is known of how busy the machine is. */
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
