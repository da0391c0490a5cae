/**
 * Events that reach a run from outside besides answers: cancellation and signals, and the keys under which the store keeps
 * them.
 */

/** No key of a question's answer begins with this character. */
export const cancelKey = '!cancel';

export function signalKey(name: string, slot: number): string {
  return `!signal/${name}/${slot}`;
}

/** The reason with which a cancelled run ends. */
export class CancelError extends Error {
  override readonly name = 'AbortError';
  readonly reason: string | undefined;

  constructor(run: string, reason: string | undefined) {
    super(`run ${run} was cancelled${reason ? `: ${reason}` : ''}`);
    this.reason = reason;
  }
}

export interface Cancellation {
  reason?: string;
  by?: string;
  at: string;
}
