/** Captures a bundle of a running process, redacted and encrypted according to this process's environment. */
import { type Capture, type CaptureOptions, captureLive } from '../../supervise/attach/capture-live.ts';
import { lockOf } from '../../supervise/evidence/lock.ts';
import { makeScrubber } from '../../supervise/scrub/scrubber.ts';

export type ProcessWords = Pick<
  CaptureOptions,
  'pid' | 'dir' | 'heap' | 'stop' | 'core' | 'keepCore' | 'reason'
> & {
  /** V8 writes the heap snapshot, instead of us from a copy of the memory. */
  byV8?: boolean;
};

/** Throws like `captureLive`. */
export function captureProcess({ byV8 = false, ...words }: ProcessWords): Promise<Capture> {
  return captureLive({
    ...words,
    ...(!byV8 && { readHeap: async (...core) => (await import('./core-digest.ts')).readHeap(...core) }),
    digestCore: async (...cores) => (await import('./core-digest.ts')).digestCore(...cores),
    scrubber: makeScrubber(process.env),
    ...lockOf(process.env),
  });
}
