/** Runs a query over all nodes. syntax.ts defines the language. */
import { AgentdumpError } from '../../../errors.ts';
import type { HeapNodeRow, HeapQueryColumn, HeapQueryTable } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { lacksNumbers } from '../questions/heap-value.ts';
import { nodeRow, requireNode } from '../questions/node-rows.ts';
import { collectGroups } from './aggregates.ts';
import type { OtherSnapshot } from './change.ts';
import { compileTest, compileValue, type Scope } from './compile.ts';
import { parseQuery } from './parse.ts';
import { PropertyReader } from './properties.ts';
import {
  type Column,
  type Expression,
  fieldTraits,
  hasAggregate,
  isGrouped,
  partsOf,
  type Query,
  type Step,
} from './syntax.ts';
import { groupKey, NodeReference, type ReadValue, sortOrder, type Value } from './values.ts';

export interface QueryResult {
  /** Number of matching nodes, which may be more than are listed. */
  matches: number;
  /** For a query without groups: the nodes of the rows, in their order. */
  nodes: HeapNodeRow[];
  /** With `select` or groups. */
  table?: HeapQueryTable;
  /** What the answer omits or can't guarantee. */
  notes: string[];
}

/** @param other another snapshot of the process, for the field `change`. */
export function runQuery(heap: Heap, query: Query, limit: number, other?: OtherSnapshot): QueryResult {
  const properties = new PropertyReader(heap);
  const scope: Scope = { heap, properties, other };
  const nodes = matchingNodes(scope, query.where);
  const most = query.limit ?? limit;
  const answer = isGrouped(query)
    ? groupRows(scope, query, nodes, most)
    : nodeRows(scope, query, nodes, most);
  return { matches: nodes.length, ...answer, notes: notesOf(heap, query, properties) };
}

/**
 * The objects that a class, a node id or a condition names. A class may have a name that is no word of a query, such as
 * `{role, content}`.
 */
export function nodesOfWords(heap: Heap, words: string): number[] {
  const scope: Scope = { heap, properties: new PropertyReader(heap) };
  const kinds = new Set(heap.classes.kinds.flatMap(({ name }, kind) => (name === words ? [kind] : [])));
  if (kinds.size) {
    const { of } = heap.classes;
    const found: number[] = [];
    for (let node = 0; node < heap.nodeCount; node++) if (kinds.has(of[node]!)) found.push(node);
    return found;
  }
  if (/^@?\d+$/.test(words)) return [requireNode(heap, words)];
  if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(words))
    throw new AgentdumpError('not-found', `no object of this heap is of a class ${words}`, { name: words });
  return matchingNodes(scope, conditionOf(words));
}

/** @throws AgentdumpError `usage` for a query that asks for more than nodes. */
export function conditionOf(words: string): Expression | undefined {
  const { where, select, groupBy, orderBy, having, limit } = parseQuery(words);
  if (select || groupBy.length || orderBy.length || having || limit !== undefined)
    throw new AgentdumpError(
      'usage',
      'paths takes a class, a node id or a condition (class = Session and self > 1kb), and no other clause of a query',
      { argument: words },
    );
  return where;
}

function matchingNodes(scope: Scope, where: Expression | undefined): number[] {
  const test = where ? compileTest(scope, where) : () => true;
  const found: number[] = [];
  for (let node = 0; node < scope.heap.nodeCount; node++) if (test(node)) found.push(node);
  return found;
}

function nodeRows(
  scope: Scope,
  query: Query,
  nodes: number[],
  limit: number,
): Omit<QueryResult, 'matches' | 'notes'> {
  const { heap } = scope;
  const sorted = query.orderBy.length
    ? sortRows(scope, query, nodes)
    : nodes.sort((a, b) => heap.retained[b]! - heap.retained[a]! || a - b);
  const columns = query.select;
  if (!columns) return { nodes: sorted.slice(0, limit).map((node) => nodeRow(heap, node)) };
  const read = columns.map(({ expression }) => compileValue(scope, expression));
  const chosen = query.isDistinct ? distinctRows(read, sorted) : sorted;
  const listed = chosen.slice(0, limit);
  return {
    nodes: query.isDistinct ? [] : listed.map((node) => nodeRow(heap, node)),
    table: tableOf(heap, columns, read, listed, chosen.length),
  };
}

function groupRows(
  scope: Scope,
  query: Query,
  nodes: number[],
  limit: number,
): Omit<QueryResult, 'matches' | 'notes'> {
  const columns = query.select ?? groupColumns(query);
  const asked: Query = { ...query, select: columns };
  const { count, known } = collectGroups(scope, asked, nodes);
  const grouped: Scope = { ...scope, known };
  const test = query.having ? compileTest(grouped, query.having) : () => true;
  const groups = Array.from({ length: count }, (_, group) => group).filter(test);
  const first = columns.find(({ expression }) => hasAggregate(expression));
  const orderBy = query.orderBy.length ? query.orderBy : first ? [{ ...first, isDescending: true }] : [];
  const sorted = sortRows(grouped, { ...asked, orderBy }, groups);
  const read = columns.map(({ expression }) => compileValue(grouped, expression));
  const chosen = query.isDistinct ? distinctRows(read, sorted) : sorted;
  const table = tableOf(scope.heap, columns, read, chosen.slice(0, limit), chosen.length);
  return { nodes: [], table };
}

/** The default columns of groups: the keys, the number of nodes and their bytes. */
function groupColumns({ groupBy }: Query): Column[] {
  const place = { at: 0, end: 0 };
  const self: Expression = { kind: 'field', field: 'self', type: 'number', ...place };
  const count = { kind: 'aggregate', name: 'count', argument: undefined, type: 'number' } as const;
  const sum = { kind: 'aggregate', name: 'sum', argument: self, type: 'number' } as const;
  return [
    ...groupBy.map((expression) => ({ name: columnName(expression), expression })),
    { name: 'count()', expression: { ...count, isDistinct: false, ...place } },
    { name: 'sum(self)', expression: { ...sum, isDistinct: false, ...place } },
  ];
}

function columnName(expression: Expression): string {
  if (expression.kind === 'field' && !expression.of) return expression.field;
  return expression.kind === 'property' ? stepsText(expression.steps) : expression.kind;
}

const stepsText = (steps: readonly Step[]): string =>
  steps
    .map((step) =>
      step.kind === 'name' ? `.${step.name}` : `[${step.kind === 'index' ? step.index : step.name}]`,
    )
    .join('');

function sortRows(scope: Scope, { orderBy }: Query, rows: number[]): number[] {
  const keys = orderBy.map(({ expression, isDescending }) => ({
    values: new Map<number, Value>(),
    read: compileValue(scope, expression),
    isDescending,
  }));
  for (const { values, read } of keys) for (const row of rows) values.set(row, read(row));
  return rows.sort((a, b) => {
    for (const { values, isDescending } of keys) {
      const order = sortOrder(values.get(a)!, values.get(b)!, isDescending);
      if (order) return order;
    }
    return a - b;
  });
}

function distinctRows(read: ReadValue[], rows: number[]): number[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = read.map((value) => groupKey(value(row))).join('\0');
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function tableOf(
  heap: Heap,
  columns: Column[],
  read: ReadValue[],
  rows: number[],
  rowCount: number,
): HeapQueryTable {
  const cell = (value: Value): HeapQueryTable['rows'][number][number] =>
    value instanceof NodeReference ? `${value.className} @${heap.snapshot.nodes.id.get(value.node)}` : value;
  return {
    columns: columns.map(({ name, expression }) => ({ name, kind: columnKind(expression) })),
    rows: rows.map((row) => read.map((value) => cell(value(row)))),
    rowCount,
  };
}

function columnKind(expression: Expression): HeapQueryColumn['kind'] {
  if (expression.kind === 'aggregate' && expression.name !== 'count' && expression.argument)
    return columnKind(expression.argument);
  if (expression.kind === 'field') return fieldTraits[expression.field].column;
  return expression.type === 'number' ? 'number' : 'value';
}

function notesOf(heap: Heap, query: Query, properties: PropertyReader): string[] {
  const asked = [query.where, query.having, ...query.groupBy, ...query.orderBy.map((key) => key.expression)];
  const columns = query.select?.map(({ expression }) => expression) ?? [];
  const expressions = [...asked, ...columns].filter((expression) => expression !== undefined);
  const asksNumbers = expressions.some(looksAtNumbers);
  return [
    ...askedClasses(query.where).flatMap((name) => classNote(heap, name)),
    ...(asksNumbers && properties.lacksNumbers && lacksNumbers(heap)
      ? [
          'Numbers are not in this snapshot (V8 writes them with exposeNumericValues): properties that hold one count as missing, and lengths and sizes may be too low.',
        ]
      : []),
    ...absentProperties(heap, expressions, properties),
    ...[...properties.unordered].map(
      ([steps, name]) =>
        `${stepsText(steps)} is an object (${name}) in some of them: objects have no order, and a snapshot has no value of a Date.`,
    ),
    ...(properties.hasCutStrings
      ? ['V8 cuts strings at 1,024 characters: longer ones count as that long.']
      : []),
  ];
}

/** A property that none of the nodes has is perhaps misspelt, and the answer to a condition on it is empty. */
function absentProperties(heap: Heap, expressions: Expression[], properties: PropertyReader): string[] {
  const hasNumbers = !lacksNumbers(heap);
  const absent = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.kind === 'property' || expression.kind === 'has')
      if (properties.isNowhere(expression.steps, hasNumbers)) absent.add(stepsText(expression.steps));
    if (expression.kind === 'relation' && expression.target.kind === 'where')
      visit(expression.target.condition);
    partsOf(expression).forEach(visit);
  };
  expressions.forEach(visit);
  return [...absent].map((name) => `None of the objects that were looked at has ${name}.`);
}

function askedClasses(where: Expression | undefined): string[] {
  const asked = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.kind === 'compare' && expression.sign === '=') {
      const { left, right } = expression;
      if (left.kind === 'field' && left.field === 'class' && !left.of && right.kind === 'literal')
        asked.add(String(right.value));
    }
    if (expression.kind === 'relation' && expression.target.kind === 'where')
      visit(expression.target.condition);
    for (const part of partsOf(expression)) visit(part);
  };
  if (where) visit(where);
  return [...asked];
}

/** A class that nothing is of is perhaps misspelt, or its objects have another in a snapshot. */
function classNote({ classes }: Heap, name: string): string[] {
  const shape = name === 'Object' && classes.kinds.find((kind) => kind.name.startsWith('{'));
  if (shape)
    return [
      `Plain objects with the same properties have a class of their own, such as ${shape.name}: name = Object finds all of them.`,
    ];
  if (classes.kinds.some((kind) => kind.name === name)) return [];
  const like = name.toLowerCase();
  const meant =
    classes.kinds.find((kind) => [like, `(${like})`].includes(kind.name.toLowerCase())) ??
    classes.kinds.find((kind) => isMisspelt(kind.name.toLowerCase(), like));
  const hint = meant
    ? `: did you mean ${JSON.stringify(meant.name)}?`
    : everything.has(like)
      ? ': leave `from` out to ask about all objects.'
      : '.';
  return [`No object of this heap is of a class ${JSON.stringify(name)}${hint}`];
}

/** What other languages call the table of all objects. */
const everything: ReadonlySet<string> = new Set([
  'heap_graph_object',
  'heap',
  'node',
  'nodes',
  'object',
  'objects',
]);

/** One letter is missing, too much, or another one, or two are exchanged. */
function isMisspelt(name: string, asked: string): boolean {
  if (asked.length < 4 || Math.abs(name.length - asked.length) > 1) return false;
  let at = 0;
  while (at < asked.length && name[at] === asked[at]) at++;
  const [left, right] = [name.slice(at), asked.slice(at)];
  return (
    left.slice(1) === right.slice(1) ||
    left.slice(1) === right ||
    left === right.slice(1) ||
    (left.slice(2) === right.slice(2) && left[0] === right[1] && left[1] === right[0])
  );
}

/** Whether a property is compared with a number, used in arithmetic, or shown. */
function looksAtNumbers(expression: Expression): boolean {
  if (expression.kind === 'property' || expression.kind === 'call') return true;
  const parts = partsOf(expression);
  const isText = ({ type }: Expression): boolean => type === 'text';
  if (expression.kind === 'pattern' || expression.kind === 'missing') return false;
  if ((expression.kind === 'compare' || expression.kind === 'in') && parts.slice(1).some(isText))
    return false;
  return parts.some(looksAtNumbers);
}
