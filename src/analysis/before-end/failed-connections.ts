/**
 * Connections that failed before the end, and whose error a client may have replaced by one of its own: a limit of retries, a pool
 * that gave no connection in time.
 */
import type { Account } from '../../model/account.ts';
import { onOneLine, shorten } from '../../model/errors/message-text.ts';
import { formatCount, formatDuration } from '../../model/quantities.ts';
import { isInError } from '../agent/failures/failure-input.ts';
import type { Told } from './told.ts';

/** Older ones had an end of their own. */
const longestAgoMs = 60_000;

export function findFailedConnections({ happenings, bundle, error }: Account): Told[] {
  const endedAt = Date.parse(bundle?.capturedAt ?? '');
  return (happenings?.connections ?? []).flatMap(({ what, message, times, lastBegunAt, by }): Told[] => {
    const agoMs = endedAt - Date.parse(lastBegunAt ?? '');
    if (!(agoMs >= 0 && agoMs <= longestAgoMs) || isInError(error, message)) return [];
    const made = by === undefined ? '' : ` of ${by}`;
    const why = message ? ` (${shorten(onOneLine(message), 160)})` : '';
    const fact =
      times > 1
        ? `${formatCount(times, 'time')} a ${what}${made} failed${why}; the last was begun`
        : `A ${what}${made} failed${why}; it was begun`;
    return [{ fact: `${fact} ${formatDuration(agoMs)} before the end`, part: 'process-events.json' }];
  });
}
