/**
 * Redacts the strings of a heap whose records are numbers already, by the same rules as in the text of a snapshot
 * (`redactor.ts`): first all records are told, then the list of strings is rewritten.
 */
import { createPolicy } from '../policy.ts';
import { readSnapshotColumns } from './meta.ts';
import { NameMarks } from './names.ts';
import type { SnapshotRedactorOptions } from './redactor.ts';
import { StringListRewriter } from './strings.ts';

/** Records in columns. */
interface NodeRecords {
  count: number;
  types: Uint8Array;
  names: Uint32Array;
}

/** `packed`: `type << 29 | target`. */
interface EdgeRecords {
  count: number;
  packed: Uint32Array;
  names: Uint32Array;
}

const typeShift = 29;

export interface RecordRedactor {
  /** `firstId`: of the first node; each is two above the one before. */
  nodes(records: NodeRecords, firstId: number): void;
  edges(records: EdgeRecords): void;
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
    nodes({ count, types, names }, firstId) {
      for (let i = 0; i < count; i++)
        if (isNodeName[types[i]!] === 1) marks.mark(names[i]!);
        else values.mark(firstId + 2 * i);
    },
    edges({ count, packed, names }) {
      for (let i = 0; i < count; i++) if (isEdgeName[packed[i]! >>> typeShift] === 1) marks.mark(names[i]!);
    },
    strings(chunk) {
      const stop = list.read(chunk, 0);
      const isLast = stop < chunk.length;
      return Buffer.from(list.take(isLast) + (isLast ? ']' : ''), 'latin1');
    },
  };
}
