/** Derives the status of an issue from its counts and from what users have decided. Pure. */
import type { IssueStatus, ReleaseCount } from '../../model/fleet/issue.ts';
import { compareReleases } from '../grouping/release.ts';

export interface StatusFacts {
  firstSeen: string;
  /** Its deaths by release: since it was resolved, or else, if they may be of one release, all. */
  releases: readonly ReleaseCount[];
  /** The releases of its program. */
  known: ProgramReleases;
  resolvedAt?: string;
  /** The release that has the fix. */
  resolvedRelease?: string;
  ignoredAt?: string;
}

/** For each release of a program, when the first death of any kind was seen. */
export class ProgramReleases {
  readonly firstSeen: ReadonlyMap<string, string>;
  #newest: string | undefined;

  constructor(seen: Iterable<readonly [release: string, firstSeen: string]>) {
    this.firstSeen = new Map(seen);
  }

  get newest(): string | undefined {
    this.#newest ??= newestOf(this.firstSeen);
    return this.#newest;
  }
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
function findRegression(facts: StatusFacts): ReleaseCount | undefined {
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
function isSameOrLater(release: string, base: string, baseAt: string, known: ProgramReleases): boolean {
  if (release === base) return true;
  const order = compareReleases(release, base);
  if (order !== undefined) return order >= 0;
  const seen = known.firstSeen.get(release);
  return seen !== undefined && seen > (known.firstSeen.get(base) ?? baseAt);
}

/** First seen in the newest release of a program that had others. */
function isOnlyInNewest({ releases: [only, ...others], known }: StatusFacts): boolean {
  if (only?.release === undefined || others.length > 0 || known.firstSeen.size < 2) return false;
  return only.release === known.newest;
}

function newestOf(firstSeen: ReadonlyMap<string, string>): string | undefined {
  return [...firstSeen.keys()].reduce<string | undefined>((best, name) => {
    if (best === undefined) return name;
    const order = compareReleases(name, best);
    const isLater =
      order === undefined ? (firstSeen.get(name) ?? '') > (firstSeen.get(best) ?? '') : order > 0;
    return isLater ? name : best;
  }, undefined);
}
