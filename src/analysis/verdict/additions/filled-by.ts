/**
 * The request whose work filled the heap, if that was seen: the watchdog looked at least twice in one stretch of its synchronous
 * code (capture/watchdog/memory/heap-stretch.ts). What a request allocates across awaits is not attributed to it: others run in
 * between.
 */
import type { RequestAccount } from '../../../model/origin.ts';
import type { Verdict } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';

/** Of the limit: with less, what had been there before may as well be the cause. */
const leastGrownShare = 0.4;
/** Of the limit, at the last look. Below, others may have filled the rest afterwards. */
const leastFullShare = 0.8;

export interface Filler {
  request: RequestAccount;
  fromBytes: number;
  toBytes: number;
  limitBytes: number;
}

/** Undefined for any other death. */
export function findFiller({ kind }: Verdict, { heapProfile }: VerdictFacts): Filler | undefined {
  const { growth, limitBytes = 0 } = heapProfile ?? {};
  if (kind !== 'heap-out-of-memory' || !growth || limitBytes <= 0) return undefined;
  const { fromBytes, toBytes, request } = growth;
  const isFilled =
    (toBytes - fromBytes) / limitBytes >= leastGrownShare && toBytes / limitBytes >= leastFullShare;
  return isFilled ? { request, fromBytes, toBytes, limitBytes } : undefined;
}

/** Adds it to the account's requests, as the one that did it. */
export function markFiller(verdict: Verdict, facts: VerdictFacts): void {
  const filler = findFiller(verdict, facts);
  if (!filler) return;
  const { account } = facts;
  const others = (account.requests ?? []).filter(({ id }) => id !== filler.request.id);
  account.requests = [{ ...filler.request, culprit: true }, ...others];
}
