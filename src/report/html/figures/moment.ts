/** The meaning of the right edge of a timeline or chart: it is not the end if the program continued. Pure. */
import type { Account } from '../../../model/account.ts';

export type Moment = 'end' | 'hang' | 'snapshot';

/** The label at the edge. */
export const momentNames: Record<Moment, string> = { end: '† death', hang: 'the hang', snapshot: 'snapshot' };

export function momentOf({ verdict, process }: Account): Moment {
  if (verdict?.kind === 'snapshot') return 'snapshot';
  const isHang = verdict?.kind === 'event-loop-hang' || verdict?.kind === 'no-progress';
  return isHang && process?.exit === undefined ? 'hang' : 'end';
}
