/** Retries a query while the failure may be temporary: a broken connection, a database that restarts, a full disk. */
import { AgentdumpError } from '../../errors.ts';

export interface Patience {
  ms: number;
  /** What is waited for, for messages. */
  place: string;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** SQLSTATE classes that waiting does not change: invalid data, violated constraints, denied access, invalid statements. */
const lasting = /^(22|23|28|3D|42)/;

/** Whether the error that `persist` threw is permanent. */
export function isLasting(error: unknown): boolean {
  const { code, details } = error as AgentdumpError;
  return code === 'unwritable' && lasting.test(String(details?.['reason']));
}

/** Throws `unwritable` when the patience is exhausted, or at once for a permanent failure. */
export async function persist<Result>(
  { ms, place }: Patience,
  query: () => Promise<Result>,
): Promise<Result> {
  const until = Date.now() + ms;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await query();
    } catch (error) {
      if (error instanceof AgentdumpError) throw error;
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      if (lasting.test(reason) || Date.now() + pauseMs > until)
        throw new AgentdumpError(
          'unwritable',
          `${place}: ${(error as Error).message || reason}`,
          { path: place, reason },
          error,
        );
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
