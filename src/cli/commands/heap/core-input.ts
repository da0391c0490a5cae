/** The heap of a core as the text of a heap snapshot, redacted as a snapshot is on its way to the disk. */
import { closeSync, writeSync } from 'node:fs';
import type { Gap } from '../../../model/verdict.ts';
import { openNew } from '../../output.ts';

export interface CoreHeap {
  input: AsyncIterable<Uint8Array>;
  /** Id of the node at an address of the process. */
  nodeAt(address: number): number | undefined;
  gaps: Gap[];
}

/** @throws as readAnyCoreGraph. */
export async function readCore(path: string, executable?: string): Promise<CoreHeap> {
  const [{ findNodeAt, readAnyCoreGraph }, { snapshotText }, { createSnapshotRedactor }, { withheldString }] =
    await Promise.all([
      import('../../../analysis/core/graph/core-graph.ts'),
      import('../../../analysis/core/graph/snapshot-text.ts'),
      import('../../../redaction/snapshot/redactor.ts'),
      import('../../../redaction/snapshot/strings.ts'),
    ]);
  const strings = process.env['AGENTDUMP_HEAP_STRINGS'] === 'clean' ? 'clean' : 'names';
  const { columns, gaps } = await readAnyCoreGraph(path, {
    ...(executable !== undefined && { executable }),
    ...(strings === 'names' && { withheld: withheldString }),
  });
  const redactor = createSnapshotRedactor({ strings });
  async function* clean() {
    for await (const piece of snapshotText(columns)) yield redactor.write(piece);
    yield redactor.end();
  }
  return { input: clean(), nodeAt: (address) => findNodeAt(columns, address), gaps };
}

/** Writes the heap of a core as a `.heapsnapshot` that is not there yet, for its owner's eyes only. */
export async function exportCore(path: string, target: string, executable?: string): Promise<Gap[]> {
  const { input, gaps } = await readCore(path, executable);
  const fd = openNew(target);
  try {
    for await (const piece of input) for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
  } finally {
    closeSync(fd);
  }
  return gaps;
}
