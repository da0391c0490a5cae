/** The parts of an account's memory that come from a heap snapshot: classes, suspects, and the retained tree. */
import type { MemoryFacts } from '../../model/account.ts';
import { computeRetainedTree } from './graph/retained-tree.ts';
import type { Heap } from './heap.ts';
import { classRows } from './questions/summary.ts';
import { computeSuspects } from './suspects/suspects.ts';

const maxClasses = 30;

/** @param part name of the bundle part with the snapshot, for the evidence. */
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
