/** Decides which changes of an issue are worth an alert. Pure. */
import type { IssueStory } from '../../model/fleet/issue.ts';
import { rateOf } from '../../model/fleet/issue-words.ts';
import { traitsOf } from '../../model/verdict.ts';

/** `crash-loop`: it dies repeatedly on several machines. */
export type AlertKind = 'new' | 'regressed' | 'spike' | 'crash-loop';

export interface Alert {
  kind: AlertKind;
  /** Identifies the occasion: an alert with the same issue, kind and occasion is posted once. */
  occasion: string;
  /** One line. */
  text: string;
}

/** Deaths within the last `recentMinutes`, and the number of machines. */
export interface RecentDeaths {
  count: number;
  hosts: number;
}

/** So far back `RecentDeaths` look. */
export const recentMinutes = 10;

const hourMs = 60 * 60_000;
const spike = { least: 10, times: 4, hoursBefore: 24 };
const loop = { least: 5, hosts: 2 };

/** There are no alerts for deploys, for requested snapshots, and for ignored or resolved issues. */
export function alertsFor(story: IssueStory, recent: RecentDeaths, nowMs: number): Alert[] {
  if (traitsOf(story.kind).nature === 'asked') return [];
  const { status, title, firstRelease, lastRelease } = story;
  if (status === 'ignored' || status === 'resolved') return [];
  const rate = story.rate ? `, ${rateOf(story.rate)} starts` : '';
  const since = firstRelease === undefined ? '' : ` since ${firstRelease}`;
  const alerts: Alert[] = [];
  // An issue that is older than its first alert existed before alerts were turned on.
  if (status === 'new') alerts.push({ kind: 'new', occasion: '', text: `new${since}${rate}: ${title}` });
  if (status === 'regressed')
    alerts.push({
      kind: 'regressed',
      occasion: story.resolved?.at ?? '',
      text: `back${lastRelease === undefined ? '' : ` in ${lastRelease}`} after it was resolved${rate}: ${title}`,
    });
  const hour = spikeOf(story, nowMs);
  if (hour)
    alerts.push({
      kind: 'spike',
      occasion: hour.hour.slice(0, 10),
      text: `${hour.count} deaths in an hour, where ${hour.usual} were usual${rate}: ${title}`,
    });
  if (recent.count >= loop.least && recent.hosts >= loop.hosts)
    alerts.push({
      kind: 'crash-loop',
      occasion: new Date(nowMs).toISOString().slice(0, 13),
      text: `${recent.count} deaths on ${recent.hosts} machines within ${recentMinutes} minutes${rate}: ${title}`,
    });
  return alerts;
}

/** Compares the current hour, or the one before, with the mean of the preceding day. */
function spikeOf(
  { hours, firstSeen }: IssueStory,
  nowMs: number,
): { hour: string; count: number; usual: string } | undefined {
  for (const { hour, count } of hours) {
    const at = Date.parse(hour);
    if (nowMs - at > 2 * hourMs || count < spike.least) continue;
    // Without a day of history there is nothing to compare with.
    if (at - Date.parse(firstSeen) < spike.hoursBefore * hourMs) continue;
    const before = hours.reduce((sum, other) => {
      const age = at - Date.parse(other.hour);
      return age > 0 && age <= spike.hoursBefore * hourMs ? sum + other.count : sum;
    }, 0);
    const mean = before / spike.hoursBefore;
    if (count >= spike.times * mean)
      return { hour, count, usual: mean < 1 ? 'less than 1' : mean.toFixed(0) };
  }
  return undefined;
}
