/** The heap of a core or of a living process in the format of a heap snapshot, redacted like a snapshot on the disk. */
import type { SnapshotRecords } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGraph } from '../../../formats/v8/graph/graph.ts';
import type { Gap } from '../../../model/verdict.ts';
import { createRecordRedactor } from '../../../redaction/snapshot/records.ts';
import { type SnapshotStrings, withheldString } from '../../../redaction/snapshot/strings.ts';
import type { CoreGraph, CoreGraphOptions } from './core-graph.ts';
import { snapshotHeadText } from './snapshot-head.ts';
import { snapshotRecords } from './snapshot-records.ts';
import { snapshotText } from './snapshot-text.ts';

export interface HeapInput {
  /** To be read once: as text for a file, or as records for the engine, which is much faster. */
  input: AsyncIterable<Uint8Array> & SnapshotRecords;
  /** Its memory is released once the input was read; addresses stay known. */
  graph: HeapGraph;
  gaps: Gap[];
}

export interface HeapInputOptions extends Pick<CoreGraphOptions, 'thread' | 'onGraph'> {
  strings: SnapshotStrings;
  /** Only its text is read, for which edges are not kept. */
  isText?: boolean;
}

/** @throws what `open` throws. */
export async function openHeapInput(
  open: (options: CoreGraphOptions) => Promise<CoreGraph>,
  { strings, isText = false, ...others }: HeapInputOptions,
): Promise<HeapInput> {
  const { graph, gaps, close } = await open({
    keepsEdges: !isText,
    ...(strings === 'names' && { withheld: withheldString }),
    ...others,
  });
  const redactor = createRecordRedactor(snapshotHeadText(graph), { strings });
  async function* clean() {
    try {
      yield* snapshotText(graph, { redactor });
    } finally {
      close();
    }
  }
  const records = snapshotRecords(graph, redactor, close);
  return { input: { ...records, [Symbol.asyncIterator]: clean }, graph, gaps };
}
