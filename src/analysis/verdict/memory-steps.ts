/** Evidence and next steps after memory ran out: only parts that this bundle has, and only what relates to the memory that grew. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Evidence } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';

/** One sentence: where to see what filled the heap. */
export function lookStep({ account, heapProfile }: VerdictFacts): string {
  const { bundle } = account;
  const has = (name: string): boolean => bundle?.parts.some((part) => part.name === name) === true;
  if (has(partNames.heapSnapshot))
    return `See what holds the memory: \`agentdump heap suspects ${bundle?.path}\`.`;
  const twice =
    'compare two snapshots of the living program (`agentdump capture <pid>` twice, then `agentdump heap suspects A B`), or set `AGENTDUMP_HEAP=always` for the next death.';
  if (heapProfile?.rows.length)
    return `No heap snapshot was kept. Begin with the functions that allocated what was alive; to see what holds it, ${twice}`;
  return `No heap snapshot was kept. To see what grows, ${twice}`;
}

/** The heap limit doesn't limit memory outside the heap. */
export const outsideStep =
  'It was not the heap that grew, so `--max-old-space-size` would not have helped: look for Buffers and typed arrays that are kept (`external` and `arrayBuffers` of process.memoryUsage()), native addons, WebAssembly memory, threads and sockets.';

/** What retains the most memory, if the bundle has a heap snapshot. */
export function suspectEvidence({ account }: VerdictFacts): Evidence[] {
  const suspect = account.memory?.suspects?.find(({ evidence }) =>
    evidence.some(({ part }) => part === partNames.heapSnapshot),
  );
  return suspect ? [{ fact: suspect.sentence, part: partNames.heapSnapshot }] : [];
}
