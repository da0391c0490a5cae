/** What comes into a run from outside besides answers: cancellation and signals, and under what the store keeps them. */

/** No question's answer is kept under a name that begins so. */
export const cancelKey = '!cancel';

export function signalKey(name: string, slot: number): string {
  return `!signal/${name}/${slot}`;
}

/** Why a run ends that was cancelled. */
export class CancelError extends Error {
  override readonly name = 'AbortError';

  constructor(run: string, reason: string | undefined) {
    super(`run ${run} was cancelled${reason ? `: ${reason}` : ''}`);
  }
}

export interface Cancellation {
  reason?: string;
  by?: string;
  at: string;
}
