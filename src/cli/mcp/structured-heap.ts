/** Answers about a heap as data. Sizes are bytes; retained sizes overlap and must not be summed. */
import type {
  ClassesDocument,
  PathDocument,
  PathsDocument,
  QueryDocument,
  RetainersDocument,
  StringsDocument,
  SuspectsDocument,
  ValueDocument,
} from '../../analysis/memory/questions/documents.ts';
import type { HeapEdgeRow, HeapNodeRow, HeapPathLine, HeapSource } from '../../model/heap.ts';
import {
  answerOf,
  flag,
  integer,
  listOf,
  number,
  type ObjectSchema,
  oneOf,
  orNull,
  record,
  type Schema,
  text,
} from './output-schema.ts';

const node = record({
  ...{ id: integer, name: text, type: text, class: text },
  ...{ selfSizeBytes: integer, retainedSizeBytes: integer },
  ...{ distance: orNull(integer), dominatorId: orNull(integer) },
});
const source = record({ line: integer, column: integer }, { file: text });
const edge = record({ edge: text, edgeType: text, node });

/** Includes what is missing in the snapshot or the core. */
function heapAnswer(required: Record<string, Schema>, optional: Record<string, Schema> = {}): ObjectSchema {
  return answerOf(required, {
    ...optional,
    gaps: listOf(record({ part: text, reason: text }, { lookedFor: text })),
  });
}

export const suspectsSchema = heapAnswer({
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
        /** In the syntax of a program: `global.sessions[3].messages`. */
        path: text,
        node,
        source,
        /** It is only large: one of the largest holders, no suspicion. */
        growth: oneOf('unknown'),
      },
    ),
  ),
});

/** What holds a node: its direct holders, or the path from the roots. */
export const holdersSchema = heapAnswer(
  { node },
  {
    retainerCount: integer,
    retainers: listOf(edge),
    path: record({ text, steps: listOf(edge) }),
  },
);

const cell = { type: ['string', 'number', 'boolean', 'null'] };

export const querySchema = heapAnswer(
  { matches: integer, nodes: listOf(node), notes: listOf(text) },
  {
    table: record({
      columns: listOf(record({ name: text, kind: text })),
      rows: listOf(listOf(cell)),
      rowCount: integer,
    }),
  },
);

export const classesSchema = heapAnswer({
  totalBytes: integer,
  classCount: integer,
  classes: listOf(
    record(
      { class: text, count: integer, selfSizeBytes: integer, retainedSizeBytes: integer },
      { distance: orNull(integer), source },
    ),
  ),
});

export const valueSchema = heapAnswer({
  node,
  value: record(
    {
      ...{ kind: text, text },
      entries: listOf(record({ key: text, id: integer, text, retainedSizeBytes: integer })),
      entryCount: integer,
    },
    { source, lacksNumbers: flag },
  ),
});

/** The tree as a list in its order, each line with its depth: schemas of tools can't be recursive. */
export const pathsSchema = heapAnswer({
  ...{
    objects: integer,
    selfSizeBytes: integer,
    retainedSizeBytes: integer,
    unheld: integer,
    hidden: integer,
  },
  lines: listOf(
    record(
      {
        ...{ depth: integer, path: text, class: text, id: integer },
        ...{ nodes: integer, nodesRetainedSizeBytes: integer },
        ...{ objects: integer, endHere: integer, selfSizeBytes: integer, retainedSizeBytes: integer },
      },
      { times: integer },
    ),
  ),
});

export const stringsSchema = heapAnswer({
  ...{ count: integer, selfSizeBytes: integer, wastedBytes: integer },
  strings: listOf(
    record(
      { value: text, count: integer, selfSizeBytes: integer, wastedBytes: integer, id: integer },
      { holders: listOf(record({ holder: text, count: integer, path: text })) },
    ),
  ),
});

export function structuredClasses({ totalBytes, classCount, classes }: ClassesDocument): object {
  return {
    totalBytes,
    classCount,
    classes: classes.map(({ source: written, ...row }) => ({
      class: row.class,
      count: row.count,
      selfSizeBytes: row.selfSizeBytes,
      retainedSizeBytes: row.retainedSizeBytes,
      distance: row.distance,
      source: written && sourceOf(written),
    })),
  };
}

export function structuredValue({ node: held, value }: ValueDocument): object {
  return {
    node: nodeOf(held),
    value: {
      kind: value.kind,
      text: value.text,
      entries: value.entries.map(({ key, id, text: shown, retainedSizeBytes }) => ({
        key,
        id,
        text: shown,
        retainedSizeBytes,
      })),
      entryCount: value.entryCount,
      source: value.source && sourceOf(value.source),
      lacksNumbers: value.lacksNumbers,
    },
  };
}

export function structuredPaths(document: PathsDocument): object {
  const { objects, selfSizeBytes, retainedSizeBytes, unheld, hidden, lines } = document;
  const flat = (below: readonly HeapPathLine[], depth: number): object[] =>
    below.flatMap(({ below: next, ...line }) => [{ depth, ...line }, ...flat(next, depth + 1)]);
  return { objects, selfSizeBytes, retainedSizeBytes, unheld, hidden, lines: flat(lines, 0) };
}

export function structuredStrings({ count, selfSizeBytes, wastedBytes, rows }: StringsDocument): object {
  return {
    ...{ count, selfSizeBytes, wastedBytes },
    strings: rows.map((row) => ({
      value: row.value,
      count: row.count,
      selfSizeBytes: row.selfSizeBytes,
      wastedBytes: row.wastedBytes,
      id: row.id,
      holders: row.holders,
    })),
  };
}

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
      growth: suspect.growth,
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
