/** Positions of the bars of a timeline, in percent of its width, and the time ranges that are worth zooming to. Pure. */
import { formatDuration } from '../../../model/quantities.ts';
import type { Timeline, TimelineRow } from './timeline.ts';

export interface BarPlace {
  left: number;
  width: number;
  /** Parts of the bar, in percent: before the reply began, and after the last of it arrived. */
  untilFirstByte?: number;
  sinceLastByte?: number;
  /** Where there is room for the text; `name` if there is none next to the bar. */
  textSide: 'before' | 'after' | 'name';
}

/** Undefined if the row has no time. */
export function barPlace(
  row: TimelineRow,
  { fromMs, endMs }: { fromMs: number; endMs: number },
): BarPlace | undefined {
  if (row.startMs === undefined) return undefined;
  const span = Math.max(1, endMs - fromMs);
  const start = Math.min(Math.max(row.startMs, fromMs), endMs);
  const end = Math.min(Math.max(row.endMs ?? start, start), endMs);
  const left = ((start - fromMs) / span) * 100;
  const width = ((end - start) / span) * 100;
  const share = (ms: number) => Math.min(100, Math.max(0, (ms / Math.max(1, end - start)) * 100));
  return {
    left,
    width,
    ...(row.firstByteMs !== undefined && { untilFirstByte: share(row.firstByteMs - start) }),
    ...(row.lastByteMs !== undefined && { sinceLastByte: share(end - row.lastByteMs) }),
    textSide: left + width <= 72 ? 'after' : left > 14 ? 'before' : 'name',
  };
}

const looks = [1000, 10_000, 60_000, 600_000, 3_600_000];

/** The whole, and the last parts of it that are much shorter. */
export function rangesOf({ startMs, endMs }: Timeline): { name: string; spanMs: number }[] {
  const whole = Math.max(1, endMs - startMs);
  const ends = looks.filter((ms) => ms < whole / 3).slice(-3);
  return [
    { name: 'Whole run', spanMs: whole },
    ...ends.reverse().map((spanMs) => ({ name: `Last ${formatDuration(spanMs)}`, spanMs })),
  ];
}
