/** A heap snapshot as a page: an account that only contains memory. */
import { computeMemoryFacts } from '../../../analysis/memory/memory-facts.ts';
import { type Account, accountSchema } from '../../../model/account.ts';
import { openHeapAt, type SourceOptions } from './input.ts';

export async function heapAccount(
  source: string,
  dir: string,
  threads: number,
  options: SourceOptions,
): Promise<Account> {
  const { heap, gaps, compute, close } = await openHeapAt(source, dir, threads, options);
  try {
    const facts = heap.snapshot.hasAllEdges ? compute(() => computeMemoryFacts(heap, source)) : {};
    return { schema: accountSchema, memory: { heapUsedBytes: heap.totalBytes, ...facts }, gaps };
  } finally {
    close();
  }
}
