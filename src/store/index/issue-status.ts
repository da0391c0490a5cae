/** What state an issue is in, by what is counted of it and what people have said of it. Pure. */
import type { IssueStatus, ReleaseCount } from '../../model/fleet/issue.ts';
import { compareReleases } from '../release.ts';

export interface StatusFacts {
  firstSeen: string;
  /** Its deaths by release. */
  releases: readonly ReleaseCount[];
  /** When each release of its program died first, of whatever fault. */
  known: ReadonlyMap<string, string>;
  resolvedAt?: string;
  /** In which release it is mended. */
  resolvedRelease?: string;
  ignoredAt?: string;
}

/** An issue without a release, or in a program's only one, is new for so long. */
const newMs = 24 * 60 * 60_000;

export function statusOf(facts: StatusFacts, nowMs: number): IssueStatus {
  if (facts.ignoredAt !== undefined) return 'ignored';
  if (facts.resolvedAt !== undefined) return findRegression(facts) ? 'regressed' : 'resolved';
  if (nowMs - Date.parse(facts.firstSeen) < newMs) return 'new';
  return isOnlyInNewest(facts) ? 'new' : 'ongoing';
}

/** The deaths that came after it was resolved, where they count: those of an older release than the one that mends it don't. */
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

/** Of names that tell no order, the later one is the one that was seen later. */
function isSameOrLater(release: string, base: string, baseAt: string, known: StatusFacts['known']): boolean {
  if (release === base) return true;
  const order = compareReleases(release, base);
  if (order !== undefined) return order >= 0;
  const seen = known.get(release);
  return seen !== undefined && seen > (known.get(base) ?? baseAt);
}

/** First seen in the newest release, of a program that had others. */
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
