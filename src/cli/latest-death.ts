/**
 * Before `latest` is looked up: a program that was killed has left no bundle yet, and whoever asks what happened last means
 * it. What its next start would do in the background is done now, if there is anything to do.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionsFolder } from '../journal/layout/session.ts';
import { note } from './output.ts';

/** Never throws: where the folder can't be written, what is there already is analyzed. */
export async function finishLatestDeath({ bundle, dir }: { bundle: string; dir: string }): Promise<void> {
  if (bundle !== 'latest' || !hasSessions(dir)) return;
  const { sweepSessions } = await import('../supervise/finish/sweep.ts');
  const { makeScrubber } = await import('../supervise/scrub/scrubber.ts');
  const { lockOf } = await import('../supervise/evidence/lock.ts');
  try {
    const witness = { foundBy: 'sweep' } as const;
    const scrubber = makeScrubber(process.env);
    for (const { result } of sweepSessions({ dir: resolve(dir), witness, scrubber, ...lockOf(process.env) }))
      if (result.outcome === 'sealed') note(`found a death that nobody had seen: ${result.path}`);
  } catch (error) {
    note(`no sweep: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function hasSessions(dir: string): boolean {
  try {
    return readdirSync(join(dir, sessionsFolder)).length > 0;
  } catch {
    return false;
  }
}
