/** A graph as the records of a snapshot, for readers that need no text of them. Its strings pass a redactor. */
import type { SnapshotRecords } from '../../../formats/heapsnapshot/index.ts';
import { type HeapGraph, idOfNode } from '../../../formats/v8/graph/graph.ts';
import { snapshotHead } from './snapshot-head.ts';
import { stringListText } from './snapshot-text.ts';

/** Is told all records before it rewrites the list of strings, in pieces. */
export interface StringListRedactor {
  node(type: number, name: number, id: number): void;
  edge(type: number, nameOrIndex: number): void;
  strings(chunk: Buffer): Buffer;
}

export function snapshotRecords(
  graph: HeapGraph,
  redactor: StringListRedactor,
  close: () => void,
): SnapshotRecords {
  return {
    head: snapshotHead(graph),
    nodes(sink) {
      let node = 0;
      return graph.nodes((type, name, sizeBytes, edgeCount) => {
        const id = idOfNode(node++);
        redactor.node(type, name, id);
        sink(type, name, id, sizeBytes, edgeCount);
      });
    },
    edges: (sink) =>
      graph.edges((type, name, target) => {
        redactor.edge(type, name);
        sink(type, name, target);
      }),
    *strings() {
      for (const piece of stringListText(graph)) yield redactor.strings(piece);
    },
    close,
  };
}
