/**
 * Whatever is computed on a graph is computed three times: in the kernel for small snapshots, with the file read into its
 * memory or copied there, and as for large ones.
 */
import { mock } from 'node:test';
import { GraphKernel } from '../../src/analysis/memory/kernel/graph-kernel.ts';
import type { ReadOptions } from '../../src/formats/heapsnapshot/index.ts';

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
