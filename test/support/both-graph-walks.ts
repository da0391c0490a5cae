/** Whatever is computed on a graph is computed twice: in the kernel for small snapshots, and as for large ones. */
import { mock } from 'node:test';
import { GraphKernel } from '../../src/analysis/memory/graph-kernel.ts';

export async function inBothWays(check: () => void | Promise<void>): Promise<void> {
  await check();
  const none = mock.method(GraphKernel, 'of', () => undefined);
  try {
    await check();
  } finally {
    none.mock.restore();
  }
}
