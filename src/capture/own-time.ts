/**
 * How long a piece of work took us, not how long we waited for a processor: on a busy machine a limit by the clock drops what
 * would have been done in time. By this thread's CPU time where Node tells it (22.19, 24), else the process's.
 */
export interface OwnTime {
  /** Milliseconds of CPU since the start. Stands still while we wait for a disk: who waits needs the clock too. */
  usedMs(): number;
  wallMs(): number;
}

type ThreadClock = { threadCpuUsage?(): NodeJS.CpuUsage };

export function ownTime(): OwnTime {
  const from = readCpuMs();
  const fromWall = performance.now();
  return { usedMs: () => readCpuMs() - from, wallMs: () => performance.now() - fromWall };
}

function readCpuMs(): number {
  const thread = (process as ThreadClock).threadCpuUsage;
  const { user, system } = thread ? Reflect.apply(thread, process, []) : process.cpuUsage();
  return (user + system) / 1000;
}
