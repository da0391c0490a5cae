/**
 * What a program did because a step had failed the run: to clean up in a `catch`, and throw the error again. A resume runs that step
 * again, and if it returns now, what is recorded behind its failure is not called.
 */
import { AgentdumpError } from '../../errors.ts';
import { quoteWords } from '../../platform/paths.ts';
import { hasEnded, type StepEntry } from './log-entries.ts';
import type { RunLog } from './run-log.ts';

/** The error with its explanation, if it is a `changed` that has this cause. */
export function explainByFailure({ id, log }: { id: string; log: RunLog }, error: Error): Error {
  if (!(error instanceof AgentdumpError) || error.code !== 'changed') return error;
  const { expected } = error.details;
  const missing = typeof expected === 'string' ? log.steps.get(expected) : undefined;
  if (!missing) return error;
  const failed = lastFailedBefore(log, missing);
  const again = failed ?? (isRunAgain(missing) ? missing : undefined);
  if (!again) return error;
  const command = quoteWords(['agentdump', 'rollback', id, '--to', again.path]);
  const why = failed
    ? `${missing.path} is recorded after ${failed.path} had failed the run, which is run again now and took another course. ` +
      'If the one was done because of the other'
    : `${missing.path} had failed the run and is to be run again, but the program does not call it any more. If it shall not`;
  const advice = `${why}: \`${command}\` does again all from ${again.path} on`;
  return new AgentdumpError('changed', `${error.message}\n${advice}`, error.details, error);
}

/** Its failure ended the run. */
function isRunAgain(entry: StepEntry): boolean {
  return entry.state === 'void' && hasEnded(entry);
}

/** The outermost of those that failed last, and that the program of this process has called again. */
function lastFailedBefore({ steps }: RunLog, { seq }: StepEntry): StepEntry | undefined {
  const failed = [...steps.values()].filter(
    (entry) => entry.isClaimed && isRunAgain(entry) && entry.endSeq < seq,
  );
  const [first, ...further] = failed.sort((a, b) => b.endSeq - a.endSeq);
  return further.reduce<StepEntry | undefined>(
    (inner, outer) => (inner?.path.startsWith(`${outer.path}/`) ? outer : inner),
    first,
  );
}
