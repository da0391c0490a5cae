/**
 * What other bundles of the same folder say of this death: that of a child that ended badly, the one that the process
 * itself had begun to write when it was killed, and those of a hang that it was in.
 */
import { basename, dirname, join } from 'node:path';
import { type ListedBundle, listBundlesBetween } from '../bundle/finished/list.ts';
import type { Account, ChildFacts, Happenings } from '../model/account.ts';
import { endedBadly } from '../model/happening-text.ts';
import { clip, formatDuration } from '../model/quantities.ts';
import type { Evidence, Verdict } from '../model/verdict.ts';
import { unseenTitle } from './verdict/causes/killed.ts';
import { maxTitleChars } from './verdict/wording.ts';

const mostRead = 3;

/** `analyze` answers with the verdict of a bundle, undefined when it cannot be read. */
export async function addChildVerdicts(
  bundlePath: string,
  happenings: Happenings | undefined,
  analyze: (path: string, id: string) => Promise<Verdict | undefined>,
): Promise<void> {
  const children = (happenings?.children ?? []).filter(endedBadly).slice(-mostRead);
  for (const child of children) {
    const path = pathOf(bundlePath, child);
    const verdict = path && child.bundle && (await analyze(path, child.bundle.id));
    if (verdict) {
      const { kind, title, confidence } = verdict;
      child.verdict = { kind, title, confidence };
    }
  }
}

/** A bundle's own words say what its child's is called: no name leads out of the folder. */
function pathOf(bundlePath: string, { bundle }: ChildFacts): string | undefined {
  return bundle && besides(bundlePath, bundle.name);
}

export function besides(bundlePath: string, name: string): string | undefined {
  return basename(name) === name && !name.startsWith('.') ? join(dirname(bundlePath), name) : undefined;
}

/** It was writing its own account when it was killed: that is the death, and the kill is what cut it short. */
export function joinUnfinished(reached: Verdict, begun: Verdict): Verdict {
  const signal =
    reached.kind === 'killed'
      ? 'It was killed while it wrote its bundle.'
      : 'It ended while it wrote its bundle.';
  return {
    ...begun,
    summary: `${begun.summary} ${signal}`,
    evidence: [...begun.evidence, ...reached.evidence],
    ...(reached.beforeEnd && { beforeEnd: reached.beforeEnd }),
  };
}

const hangs = new Set(['event-loop-hang', 'no-progress']);
const mostHangs = 2;
/** One that it recovered from longer ago says nothing of the end. */
const recentMs = 60_000;
/** The start is computed from the uptime. */
const sameStartMs = 2_000;

/** `ongoing`: the account of the last hang that nobody saw it recover from. */
export interface HangsBefore {
  facts: Evidence[];
  ongoing?: Account;
}

/**
 * The hang that other observers, or earlier looks, had seen this process in: a sentence each, the newest first. `read`
 * gives a bundle's account, undefined when it cannot be read. `isEndSeen`: else the process may have lived on for long.
 */
export async function findHangsBefore(
  bundlePath: string,
  { process, bundle }: Account,
  isEndSeen: boolean,
  read: (path: string) => Promise<Account | undefined>,
): Promise<HangsBefore> {
  const { pid, startedAt } = process ?? {};
  const at = bundle?.capturedAt;
  const found: HangsBefore = { facts: [] };
  if (pid === undefined || !startedAt || !at) return found;
  for (const one of hangsBetween(dirname(bundlePath), startedAt, at)) {
    const agoMs = Date.parse(at) - Date.parse(one.at);
    if (found.facts.length === mostHangs) break;
    if (one.sequel?.event === 'recovered' && agoMs > recentMs) continue;
    const account = await read(one.path);
    const { process: seen, verdict } = account ?? {};
    const isSame = seen?.pid === pid && areClose(seen.startedAt, startedAt);
    if (!isSame || !verdict || !hangs.has(verdict.kind)) continue;
    const since = one.sequel?.event === 'recovered' ? ', and it recovered' : '';
    const when = isEndSeen
      ? `A bundle of ${formatDuration(agoMs)} before`
      : `A bundle of ${one.at} (how long before the end is not known)`;
    const fact = `${when} says (${verdict.confidence}): ${verdict.title}${since}.`;
    if (found.facts.length === 0 && account && since === '') found.ongoing = account;
    found.facts.push({ fact, part: one.name });
  }
  return found;
}

/** Process 1 of another container has the same number. */
function areClose(one: string | undefined, other: string): boolean {
  return one !== undefined && Math.abs(Date.parse(one) - Date.parse(other)) < sameStartMs;
}

function hangsBetween(dir: string, from: string, to: string): ListedBundle[] {
  try {
    return listBundlesBetween(dir, from, to).filter(({ verdictKind }) => hangs.has(verdictKind ?? ''));
  } catch {
    return [];
  }
}

/** Nothing it did after that was seen: the state that it was last seen in stands in the title, with the code. */
export function joinHang(account: Account, hang: Account): void {
  const { verdict } = account;
  if (verdict?.kind !== 'killed' || !hang.verdict) return;
  const { title, place } = hang.verdict;
  const end = verdict.title === unseenTitle ? 'Died unseen' : verdict.title;
  account.verdict = {
    ...verdict,
    title: clip(`${end}; last seen: ${title}`, maxTitleChars),
    ...(place && !verdict.place && { place }),
  };
  if (!account.threads?.length && hang.threads) account.threads = hang.threads;
}
