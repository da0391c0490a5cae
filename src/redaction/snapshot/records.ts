/**
 * Redacts the strings of a heap whose records are numbers already, by the same rules as in the text of a snapshot
 * (`redactor.ts`): first all records are told, then the list of strings is rewritten.
 */
import { createPolicy } from '../policy.ts';
import { readSnapshotColumns } from './meta.ts';
import { NameMarks } from './names.ts';
import type { SnapshotRedactorOptions } from './redactor.ts';
import { StringListRewriter } from './strings.ts';

export interface RecordRedactor {
  node(type: number, name: number, id: number): void;
  edge(type: number, nameOrIndex: number): void;
  /** The next bytes of the list, whose opening bracket precedes the first. Returns what is ready. */
  strings(chunk: Buffer): Buffer;
}

/** `head`: the text of the snapshot before its nodes, which tells the types. */
export function createRecordRedactor(
  head: string,
  { strings, policy = createPolicy() }: SnapshotRedactorOptions,
): RecordRedactor {
  const columns = readSnapshotColumns(head);
  const [isNodeName, isEdgeName] = [columns.nodes.isName, columns.edges.isName];
  const [marks, values] = [new NameMarks(), new NameMarks()];
  const list = new StringListRewriter(marks, values, policy, strings);
  return {
    node(type, name, id) {
      if (isNodeName[type] === 1) marks.mark(name);
      else values.mark(id);
    },
    edge(type, nameOrIndex) {
      if (isEdgeName[type] === 1) marks.mark(nameOrIndex);
    },
    strings(chunk) {
      const stop = list.read(chunk, 0);
      const isLast = stop < chunk.length;
      return Buffer.from(list.take(isLast) + (isLast ? ']' : ''), 'latin1');
    },
  };
}
