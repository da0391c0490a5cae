/**
 * What differs between accounts: one compared to another, or to a baseline of several. Reads only accounts, so that only
 * conclusions of the analysis are compared. Pure.
 */
import type { Account } from '../../model/account.ts';
import { type BundleDiff, type DiffSide, diffSchema } from '../../model/diff.ts';
import { compareFacts } from './compare.ts';
import { findFork } from './conversation.ts';
import { readFacts } from './facts.ts';
import { compareStacks, stackOfDeath } from './frames.ts';
import { findLeads } from './leads.ts';

/** `before`: at least one. Stack and conversation are compared to the first, everything else to all of them. */
export function computeDiff(before: readonly Account[], after: Account): BundleDiff {
  const [nearest] = before;
  if (!nearest) throw new TypeError('there is nothing to compare with');
  const compared = compareFacts(before.map(readFacts), readFacts(after));
  addFrames(compared, nearest, after);
  const fork = findFork(nearest, after);
  const sameSignature = sameSignatureOf(before, after);
  return {
    schema: diffSchema,
    before: before.map(sideOf),
    after: sideOf(after),
    ...(sameSignature === undefined ? {} : { sameSignature }),
    leads: findLeads({ after, changes: compared.changes, fork }),
    ...compared,
    ...(fork ? { fork } : {}),
    gaps: [...before, after].flatMap(({ bundle, gaps }) =>
      gaps.map(({ part, reason }) => ({ bundle: bundle?.id ?? '', part, reason })),
    ),
  };
}

/** After verdict and error, where a reader looks for them. */
function addFrames(compared: ReturnType<typeof compareFacts>, before: Account, after: Account): void {
  const [from, to] = [stackOfDeath(before), stackOfDeath(after)];
  if (!from || !to) {
    const silent = [from ? undefined : 'before', to ? undefined : 'after'].filter(Boolean).join(' and ');
    compared.notCompared.push({ section: 'frames', reason: `no stack of the death in ${silent}` });
    return;
  }
  const changes = compareStacks(from, to);
  if (!changes.length) compared.alike.push('frames');
  const at = compared.changes.findIndex(({ section }) => section !== 'verdict' && section !== 'error');
  compared.changes.splice(at === -1 ? compared.changes.length : at, 0, ...changes);
}

function sameSignatureOf(before: readonly Account[], after: Account): boolean | undefined {
  const own = after.signature?.id;
  if (own === undefined || before.some(({ signature }) => signature === undefined)) return undefined;
  return before.some(({ signature }) => signature?.id === own);
}

function sideOf({ bundle, verdict, signature }: Account): DiffSide {
  return {
    id: bundle?.id ?? '',
    path: bundle?.path ?? '',
    ...(bundle?.capturedAt && { capturedAt: bundle.capturedAt }),
    ...(verdict && { verdict: verdict.kind, title: verdict.title }),
    ...(signature && { signature: signature.id }),
  };
}
