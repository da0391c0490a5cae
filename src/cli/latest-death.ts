/**
 * Called before `latest` is looked up: a program that was killed has not left a bundle yet, and a user who asks for the last
 * death expects it. Does now, if necessary, what the next start of the program would do in the background.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionsFolder } from '../journal/layout/session.ts';
import { note } from './output/output.ts';

/** Never throws: if the folder can't be written to, what exists already is analyzed. */
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
