/**
 * Errors that the program itself logged as structured lines (pino, winston, bunyan, Elastic's schema …), with the time that the
 * line has.
 */
import type { Account } from '../../model/account.ts';
import { type LogLine, logWords, readLogLine } from '../../model/process-events/log-line.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import { isInError } from '../agent/failures/failure-input.ts';
import { findPrintedError } from '../joins/printed-error.ts';
import type { TriggerFacts } from '../parts/trigger.ts';
import type { Told } from './told.ts';

const mostLines = 200;
const mostTold = 3;
const longest = 240;
const grave = new Set(['error', 'fatal']);

/** The newest, without those that say what the account says of the death. Repetitions are merged. */
export function findLoggedErrors(account: Account): Told[] {
  const endedAt = Date.parse(account.bundle?.capturedAt ?? '');
  const uptime = account.process?.uptimeMs ?? Infinity;
  const rows = new Map<string, { log: LogLine; times: number }>();
  for (const { text } of account.happenings?.logs ?? [])
    for (const line of text.split('\n').slice(-mostLines)) {
      const log = readLogLine(line);
      if (!log || !grave.has(log.level)) continue;
      if (isInError(account.error, log.message) || isInError(account.error, withoutName(log.error))) continue;
      const words = logWords(log);
      const times = (rows.get(words)?.times ?? 0) + 1;
      rows.delete(words);
      rows.set(words, { log, times });
    }
  return [...rows].slice(-mostTold).map(([words, { log, times }]) => {
    const beforeEndMs = log.at === undefined ? Number.NaN : endedAt - log.at;
    const often = times > 1 ? `, ${formatCount(times, 'time')}` : '';
    const level = log.level === 'fatal' ? 'a fatal error' : 'an error';
    return {
      fact: `The program logged ${level}: ${clip(words, longest)}${often}`,
      part: 'process-events.json',
      // A clock that the line was written with may be another one.
      ...(beforeEndMs >= 0 && beforeEndMs <= uptime && { beforeEndMs }),
    };
  });
}

const printing = new Set(['uncaught-exception', 'unhandled-rejection']);

/** The last error that the program printed with its stack before it died of another one, such as one that its clean-up threw. */
export function findPrintedErrors(account: Account, logged: readonly Told[], trigger?: TriggerFacts): Told[] {
  const printed = printing.has(trigger?.kind ?? '')
    ? findPrintedError(account.happenings?.logs ?? [])
    : undefined;
  if (!printed?.isLast) return [];
  const message = withoutName(printed.headline);
  const isKnown =
    isInError(account.error, message) ||
    isInError(account.error, printed.headline) ||
    logged.some(({ fact }) => message !== undefined && fact.includes(clip(message, longest)));
  if (isKnown) return [];
  return [
    { fact: `The program printed an error: ${clip(printed.headline, longest)}`, part: 'process-events.json' },
  ];
}

const withoutName = (error: string | undefined): string | undefined => error?.replace(/^[A-Z]\w*: /, '');
