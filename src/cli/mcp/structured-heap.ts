/** Answers about a heap as data. Sizes are bytes; retained sizes overlap and must not be summed. */
import type {
  PathDocument,
  QueryDocument,
  RetainersDocument,
  SuspectsDocument,
} from '../../analysis/memory/questions/documents.ts';
import type { HeapEdgeRow, HeapNodeRow, HeapSource } from '../../model/heap.ts';
import { answerOf, integer, listOf, number, oneOf, orNull, record, text } from './output-schema.ts';

const node = record({
  ...{ id: integer, name: text, type: text, class: text },
  ...{ selfSizeBytes: integer, retainedSizeBytes: integer },
  ...{ distance: orNull(integer), dominatorId: orNull(integer) },
});
const edge = record({ edge: text, edgeType: text, node });

export const suspectsSchema = answerOf({
  totalBytes: integer,
  suspects: listOf(
    record(
      {
        ...{ rule: text, title: text, sentence: text, refutedBy: text },
        confidence: oneOf('certain', 'likely', 'possible'),
        ...{ retainedSizeBytes: integer, share: number },
        evidence: listOf(text),
      },
      {
        /** As one would write it: `global.sessions[3].messages`. */
        path: text,
        node,
        source: record({ line: integer, column: integer }, { file: text }),
      },
    ),
  ),
});

/** What holds a node: its direct holders, or the path from the roots. */
export const holdersSchema = answerOf(
  { node },
  {
    retainerCount: integer,
    retainers: listOf(edge),
    path: record({ text, steps: listOf(edge) }),
  },
);

const cell = { type: ['string', 'number', 'boolean', 'null'] };

export const querySchema = answerOf(
  { matches: integer, nodes: listOf(node), notes: listOf(text) },
  {
    table: record({
      columns: listOf(record({ name: text, kind: text })),
      rows: listOf(listOf(cell)),
      rowCount: integer,
    }),
  },
);

export function structuredSuspects({ totalBytes, suspects }: SuspectsDocument): object {
  return {
    totalBytes,
    suspects: suspects.map(({ node: held, source, ...suspect }) => ({
      rule: suspect.rule,
      title: suspect.title,
      sentence: suspect.sentence,
      confidence: suspect.confidence,
      retainedSizeBytes: suspect.retainedSizeBytes,
      share: suspect.share,
      evidence: suspect.evidence,
      refutedBy: suspect.refutedBy,
      path: suspect.path,
      node: held && nodeOf(held),
      source: source && sourceOf(source),
    })),
  };
}

export function structuredHolders(document: PathDocument | RetainersDocument): object {
  const held = nodeOf(document.node);
  if (!('path' in document))
    return {
      node: held,
      retainerCount: document.retainerCount,
      retainers: document.retainers.map(edgeOf),
    };
  const { text: written, steps } = document.path;
  return { node: held, path: { text: written, steps: steps.map(edgeOf) } };
}

export function structuredQuery({ matches, nodes, table, notes }: QueryDocument): object {
  return { matches, nodes: nodes.map(nodeOf), table, notes };
}

const sourceOf = ({ file, line, column }: HeapSource) => ({ file, line, column });

const edgeOf = ({ edge: name, edgeType, node: held }: HeapEdgeRow) => ({
  edge: name,
  edgeType,
  node: nodeOf(held),
});

const nodeOf = (row: HeapNodeRow) => ({
  id: row.id,
  name: row.name,
  type: row.type,
  class: row.class,
  selfSizeBytes: row.selfSizeBytes,
  retainedSizeBytes: row.retainedSizeBytes,
  distance: row.distance,
  dominatorId: row.dominatorId,
});
