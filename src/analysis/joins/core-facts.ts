/**
 * What a bundle's mini core adds to the account: the fault, every thread with native and JavaScript frames, suspended
 * functions, object counts. Loaded only if there is a mini core. Frames of a thread that are known in more detail (from a
 * debugger, with variables) are kept.
 */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Account } from '../../model/account.ts';
import type { Thread } from '../../model/thread.ts';
import type { Gap, Verdict } from '../../model/verdict.ts';
import type { AnalyzableBundle } from '../bundle-parts.ts';

export type CoreFacts = Pick<Account, 'signal' | 'threads' | 'suspended' | 'memory' | 'modules'> & {
  verdict?: Verdict;
};

/** Undefined without a core. What can't be read becomes a gap. */
export async function readCoreFacts(bundle: AnalyzableBundle, gaps: Gap[]): Promise<CoreFacts | undefined> {
  const bytes = bundle.parts.some(({ name }) => name === partNames.miniCore)
    ? bundle.readPart(partNames.miniCore)
    : undefined;
  if (!bytes) return undefined;
  try {
    const { accountForCoreBytes } = await import('../core/core-account.ts');
    const { gaps: found, verdict, ...account } = await accountForCoreBytes(bytes);
    gaps.push(
      ...found.map(({ part, ...gap }) => ({ ...gap, part: part === 'core' ? partNames.miniCore : part })),
    );
    return { ...account, ...(verdict && { verdict: citing(verdict) }) };
  } catch (error) {
    gaps.push({ part: partNames.miniCore, reason: `it could not be read: ${(error as Error).message}` });
    return undefined;
  }
}

/** Evidence must name the part that contains it. */
function citing(verdict: Verdict): Verdict {
  return { ...verdict, evidence: verdict.evidence.map(({ fact }) => ({ fact, part: partNames.miniCore })) };
}

/** `threads`: those of the other parts, the one that ended the process first. */
export function joinCoreThreads(threads: Thread[], core: CoreFacts | undefined): Thread[] {
  const found = core?.threads ?? [];
  if (!found.length) return threads;
  const [own] = threads;
  const isSeen = own !== undefined && own.kind === 'main' && own.frames.length > 0 && !own.crashed;
  const workers = threads.filter((thread) => thread !== own && thread.kind === 'worker');
  return isSeen ? [own, ...workers, ...found.filter((thread) => thread.kind !== 'main')] : found;
}

/** A heap snapshot has more precise classes. */
export function joinCoreMemory(memory: Account['memory'], core: CoreFacts | undefined): Account['memory'] {
  const classes = core?.memory?.classes;
  return classes && !memory?.classes ? { ...memory, classes } : memory;
}
