/** Counts our own timers: waiting for a person or for the next try can't wake the program. */
let atWork = 0;

let making = 0;

/** Whether the timer that is being created is ours, although the program's code is running. */
export const isOurs = (): boolean => making > 0;

export function ownTimer(wake: () => void, ms: number): NodeJS.Timeout {
  making++;
  try {
    return setTimeout(wake, ms);
  } finally {
    making--;
  }
}

/** Node fires a longer timer at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Ends early when the signal aborts. */
export async function ownPause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  atWork++;
  try {
    await new Promise<void>((resolve) => {
      const timer = ownTimer(resolve, Math.min(ms, longestTimerMs));
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      signal?.addEventListener('abort', end, { once: true });
    });
  } finally {
    atWork--;
  }
}

export const ownPausesAtWork = (): number => atWork;
