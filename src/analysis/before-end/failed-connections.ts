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

export function findFailedConnections({ happenings, bundle, error, process }: Account): Told[] {
  const endedAt = Date.parse(bundle?.capturedAt ?? '');
  const loaders = preloadedPackages(process?.execArgv ?? []);
  return (happenings?.connections ?? []).flatMap(({ what, message, times, lastBegunAt, by }): Told[] => {
    const agoMs = endedAt - Date.parse(lastBegunAt ?? '');
    if (!(agoMs >= 0 && agoMs <= longestAgoMs) || isInError(error, message)) return [];
    if (by !== undefined && loaders.has(by)) return [];
    const made = by === undefined ? '' : ` of ${by}`;
    const why = message ? ` (${shorten(onOneLine(message), 160)})` : '';
    const fact =
      times > 1
        ? `${formatCount(times, 'time')} a ${what}${made} failed${why}; the last was begun`
        : `A ${what}${made} failed${why}; it was begun`;
    return [{ fact: `${fact} ${formatDuration(agoMs)} before the end`, part: 'process-events.json' }];
  });
}

const preloading = /^(?:-r|--(?:require|import|(?:experimental-)?loader))(?:=(.+))?$/;

/** Loaders such as tsx look for a server of their own, which is there or not: no work of the program. */
function preloadedPackages(execArgv: readonly string[]): Set<string> {
  const names = execArgv.flatMap((word, at) => {
    const match = preloading.exec(word);
    const module = match && (match[1] ?? execArgv[at + 1]);
    return module ? [packageIn(module)] : [];
  });
  return new Set(names.filter((name) => name !== undefined));
}

/** `tsx`, `tsx/esm` or `file:///app/node_modules/tsx/dist/loader.mjs` */
const packageIn = (module: string): string | undefined =>
  /(?:^|.*[\\/]node_modules[\\/])((?:@[^\\/]+[\\/])?[^.\\/:@][^\\/:]*)/.exec(module)?.[1];
