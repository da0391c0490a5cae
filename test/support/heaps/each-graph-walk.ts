/**
 * Runs a check once for each of the three ways to compute on a graph: in the kernel with the file read directly into its
 * memory, in the kernel with the file copied there, and without the kernel, as for large snapshots.
 */
import { mock } from 'node:test';
import { GraphKernel } from '../../../src/analysis/memory/kernel/graph-kernel.ts';
import type { ReadOptions } from '../../../src/formats/heapsnapshot/index.ts';

export async function inEachWay(check: (options: ReadOptions) => void | Promise<void>): Promise<void> {
  await check({ memoryFor: GraphKernel.memoryFor });
  await check({});
  const none = mock.method(GraphKernel, 'of', () => undefined);
  try {
    await check({});
  } finally {
    none.mock.restore();
  }
}
