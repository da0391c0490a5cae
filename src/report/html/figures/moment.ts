/** What the right edge of a picture over time is: a program that went on has no end there. Pure. */
import type { Account } from '../../../model/account.ts';

export type Moment = 'end' | 'hang' | 'snapshot';

/** At the edge itself. */
export const momentNames: Record<Moment, string> = { end: '† death', hang: 'the hang', snapshot: 'snapshot' };

export function momentOf({ verdict, process }: Account): Moment {
  if (verdict?.kind === 'snapshot') return 'snapshot';
  const isHang = verdict?.kind === 'event-loop-hang' || verdict?.kind === 'no-progress';
  return isHang && process?.exit === undefined ? 'hang' : 'end';
}
