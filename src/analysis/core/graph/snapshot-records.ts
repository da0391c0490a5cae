/** A graph as the records of a snapshot, for readers that need no text of them. Its strings pass a redactor. */
import type { SnapshotRecords } from '../../../formats/heapsnapshot/index.ts';
import { type HeapGraph, idOfNode } from '../../../formats/v8/graph/graph.ts';
import { snapshotHead } from './snapshot-head.ts';
import { type StringListRedactor, stringListText } from './snapshot-text.ts';

export function snapshotRecords(
  graph: HeapGraph,
  redactor: StringListRedactor,
  close: () => void,
): SnapshotRecords {
  return {
    head: snapshotHead(graph),
    *nodes() {
      let node = 0;
      for (const batch of graph.nodes()) {
        redactor.nodes(batch, idOfNode(node));
        node += batch.count;
        yield batch;
      }
    },
    idOfNode,
    *edges() {
      for (const batch of graph.edges()) {
        redactor.edges(batch);
        yield batch;
      }
    },
    locations: (places) => graph.locations(places),
    *strings() {
      for (const piece of stringListText(graph)) yield redactor.strings(piece);
    },
    close,
  };
}
