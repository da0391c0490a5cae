/**
 * When the runs of a schedule are due. The id of a run consists of the schedule's name and the time, so many workers queue it
 * only once, and no state of schedules has to be stored. Times are UTC.
 */
import { AgentdumpError } from '../../errors.ts';
import type { RunRetry } from '../records/layout.ts';

export interface Schedule {
  /** Name of the program. */
  name: string;
  /** Minute, hour, day of month, month, day of week, as in cron: numbers, lists, ranges, steps. */
  cron?: string;
  /** Instead of `cron`: a period in milliseconds, counted from 1970. */
  everyMs?: number;
  /** Distinguishes two schedules of one program. Default: the name. */
  id?: string;
  input?: unknown;
  priority?: number;
  retry?: RunRetry;
  /** How late a time may be made up for that passed while no worker was running. Default: ten minutes. */
  graceMs?: number;
}

const minuteMs = 60_000;
const defaultGraceMs = 10 * minuteMs;

export const idOf = ({ id, name }: Schedule): string => id ?? name;

/** Throws `usage` for invalid schedules, and for two that would queue the same runs. */
export function requireSchedules(schedules: readonly Schedule[]): void {
  const ids = new Set<string>();
  for (const schedule of schedules) {
    const { graceMs = 0 } = schedule;
    if (!(graceMs >= 0 && graceMs < Number.POSITIVE_INFINITY))
      throw unfit(schedule, 'wants graceMs of 0 or more');
    findSlot(schedule, Date.now());
    if (ids.has(idOf(schedule))) throw unfit(schedule, 'is there twice: give each an id');
    ids.add(idOf(schedule));
  }
}

function unfit(schedule: Schedule, why: string): AgentdumpError {
  return new AgentdumpError('usage', `schedule ${idOf(schedule)} ${why}`, { argument: 'schedules' });
}

/** The latest time of the schedule within the grace period, and the id of its run. */
export function findSlot(schedule: Schedule, nowMs: number): { atMs: number; id: string } | undefined {
  const { cron, everyMs, graceMs = defaultGraceMs } = schedule;
  const atMs = cron === undefined ? lastMultiple(schedule, everyMs, nowMs) : lastOf(cron, nowMs, graceMs);
  if (atMs === undefined || nowMs - atMs > graceMs) return undefined;
  return { atMs, id: `${idOf(schedule)}@${new Date(atMs).toISOString()}` };
}

function lastMultiple(schedule: Schedule, everyMs: number | undefined, nowMs: number): number {
  if (everyMs !== undefined && everyMs >= 1_000 && everyMs < Number.POSITIVE_INFINITY)
    return Math.floor(nowMs / everyMs) * everyMs;
  throw unfit(schedule, 'wants cron, or everyMs of at least 1000');
}

function lastOf(cron: string, nowMs: number, graceMs: number): number | undefined {
  const matches = parseCron(cron);
  const last = Math.floor(nowMs / minuteMs) * minuteMs;
  for (let atMs = last; atMs >= nowMs - graceMs; atMs -= minuteMs) if (matches(new Date(atMs))) return atMs;
  return undefined;
}

const fields = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12 },
  { name: 'day of week', from: 0, to: 7 },
] as const;

/** If both day of month and day of week are restricted, one of them must match, as in cron. */
function parseCron(cron: string): (at: Date) => boolean {
  const words = cron.trim().split(/\s+/);
  if (words.length !== fields.length) throw wrong(cron, `it has ${words.length} fields, not 5`);
  const [minutes, hours, days, months, weekdays] = words.map((word, index) =>
    parseField(word, fields[index]!, cron),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  const [, , dayWord = '*', , weekdayWord = '*'] = words;
  return (at) => {
    const isDay = days.has(at.getUTCDate());
    const isWeekday = weekdays.has(at.getUTCDay()) || (at.getUTCDay() === 0 && weekdays.has(7));
    const isEither = !dayWord.startsWith('*') && !weekdayWord.startsWith('*');
    return (
      minutes.has(at.getUTCMinutes()) &&
      hours.has(at.getUTCHours()) &&
      months.has(at.getUTCMonth() + 1) &&
      (isEither ? isDay || isWeekday : isDay && isWeekday)
    );
  };
}

function parseField(word: string, { name, from, to }: (typeof fields)[number], cron: string): Set<number> {
  const found = new Set<number>();
  for (const part of word.split(',')) {
    const [, start, end, step = '1'] = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const isKnown = start !== undefined || part.startsWith('*');
    const low = start === undefined ? from : Number(start);
    const isOpen = start === undefined || part.includes('/');
    const high = end !== undefined ? Number(end) : isOpen ? to : low;
    if (!isKnown || low < from || high > to || low > high || Number(step) < 1)
      throw wrong(cron, `${part} is no ${name}`);
    for (let value = low; value <= high; value += Number(step)) found.add(value);
  }
  return found;
}

function wrong(cron: string, why: string): AgentdumpError {
  return new AgentdumpError('usage', `the schedule ${cron} can't be read: ${why}`, { argument: 'schedules' });
}
