/** The part of an account's memory that a heap snapshot tells: classes, suspects, and what keeps what. */
import type { MemoryFacts } from '../../model/account.ts';
import { computeRetainedTree } from './graph/retained-tree.ts';
import type { Heap } from './heap.ts';
import { classRows } from './questions/summary.ts';
import { computeSuspects } from './suspects/suspects.ts';

const maxClasses = 30;

/** @param part name of the bundle part that the snapshot is, for the evidence. */
export function computeMemoryFacts(
  heap: Heap,
  part: string,
): Required<Pick<MemoryFacts, 'classes' | 'suspects' | 'retained'>> {
  return {
    classes: classRows(heap, 'retained')
      .slice(0, maxClasses)
      .map(({ class: name, count, selfSizeBytes, retainedSizeBytes }) => ({
        name,
        count,
        selfSizeBytes,
        retainedSizeBytes,
      })),
    retained: computeRetainedTree(heap),
    suspects: computeSuspects(heap, { withTables: true }).map(
      ({ rule, title, sentence, retainedSizeBytes, confidence, evidence, path }) => ({
        rule,
        title,
        sentence,
        retainedSizeBytes,
        confidence,
        evidence: [...evidence, ...(path ? [`it is at ${path}`] : [])].map((fact) => ({ fact, part })),
      }),
    ),
  };
}
