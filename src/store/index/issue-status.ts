/** Derives the status of an issue from its counts and from what users have decided. Pure. */
import type { IssueStatus, ReleaseCount } from '../../model/fleet/issue.ts';
import { compareReleases } from '../release.ts';

export interface StatusFacts {
  firstSeen: string;
  /** Its deaths by release. */
  releases: readonly ReleaseCount[];
  /** For each release of its program, when the first death of any kind was seen. */
  known: ReadonlyMap<string, string>;
  resolvedAt?: string;
  /** The release that has the fix. */
  resolvedRelease?: string;
  ignoredAt?: string;
}

/** How long an issue counts as new if it has no release, or its program only one. */
const newMs = 24 * 60 * 60_000;

export function statusOf(facts: StatusFacts, nowMs: number): IssueStatus {
  if (facts.ignoredAt !== undefined) return 'ignored';
  if (facts.resolvedAt !== undefined) return findRegression(facts) ? 'regressed' : 'resolved';
  if (nowMs - Date.parse(facts.firstSeen) < newMs) return 'new';
  return isOnlyInNewest(facts) ? 'new' : 'ongoing';
}

/** The deaths after it was resolved that contradict the fix: those of releases older than the fix don't. */
export function findRegression(facts: StatusFacts): ReleaseCount | undefined {
  const { resolvedAt, resolvedRelease } = facts;
  if (resolvedAt === undefined) return undefined;
  return facts.releases.find(
    ({ release, lastSeen }) =>
      lastSeen > resolvedAt &&
      (resolvedRelease === undefined ||
        release === undefined ||
        isSameOrLater(release, resolvedRelease, resolvedAt, facts.known)),
  );
}

/** Releases whose names can't be compared are ordered by when they were first seen. */
function isSameOrLater(release: string, base: string, baseAt: string, known: StatusFacts['known']): boolean {
  if (release === base) return true;
  const order = compareReleases(release, base);
  if (order !== undefined) return order >= 0;
  const seen = known.get(release);
  return seen !== undefined && seen > (known.get(base) ?? baseAt);
}

/** First seen in the newest release of a program that had others. */
function isOnlyInNewest({ releases, known }: StatusFacts): boolean {
  if (known.size < 2 || releases.some(({ release }) => release === undefined)) return false;
  const newest = newestOf([...known.keys()], known);
  return releases.every(({ release }) => release === newest);
}

function newestOf(names: readonly string[], known: StatusFacts['known']): string | undefined {
  return names.reduce<string | undefined>((best, name) => {
    if (best === undefined) return name;
    const order = compareReleases(name, best);
    const isLater = order === undefined ? (known.get(name) ?? '') > (known.get(best) ?? '') : order > 0;
    return isLater ? name : best;
  }, undefined);
}
