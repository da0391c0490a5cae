/**
 * Asks a thread that must run in order to answer. On a busy machine it may get no processor for longer than the limit, wherever it is:
 * then it is asked again. Once it has run for a while without an answer, it is in native code, however long it was queued.
 */
import { readMainCpuMs, readQueuedMs } from './main-cpu.ts';

const mostAsks = 5;
/** JavaScript answers at the next back edge of a loop or call of a function. */
const enoughCpuMs = 200;

export interface ThreadClock {
  cpuMs(): number | undefined;
  queuedMs(): number | undefined;
}

const clockOfMain: ThreadClock = { cpuMs: readMainCpuMs, queuedMs: () => readQueuedMs(process.pid) };

/** `cpuMs`: how long the thread ran without answering; undefined if the system doesn't say. */
export async function askWhileQueued<Answer>(
  ask: (limitMs: number) => Promise<Answer | undefined>,
  limitMs: number,
  clock: ThreadClock = clockOfMain,
): Promise<{ answer: Answer | undefined; cpuMs: number | undefined }> {
  const cpuBefore = clock.cpuMs();
  for (let asked = 1; ; asked++) {
    const queuedBefore = clock.queuedMs();
    const answer = await ask(limitMs);
    const cpuMs = between(cpuBefore, clock.cpuMs());
    const queuedMs = between(queuedBefore, clock.queuedMs()) ?? 0;
    const wasQueued = queuedMs > limitMs / 2 && (cpuMs ?? 0) < enoughCpuMs;
    if (answer !== undefined || !wasQueued || asked === mostAsks) return { answer, cpuMs };
  }
}

const between = (then: number | undefined, now: number | undefined): number | undefined =>
  then === undefined || now === undefined ? undefined : now - then;
