/**
 * One heap with everything precomputed that a click may need, and the most recent lists. Answers within the time of a click:
 * everything that takes longer is done when it is opened.
 */
import type { Heap } from '../../analysis/memory/heap.ts';
import { parseQuery } from '../../analysis/memory/query/parse.ts';
import { runQuery } from '../../analysis/memory/query/run.ts';
import { computeDuplicateStrings } from '../../analysis/memory/questions/duplicate-strings.ts';
import { computeFillTable } from '../../analysis/memory/questions/fill-table.ts';
import {
  computeHeapValueKeys,
  type HeapValueKeys,
  kindOf,
  lacksNumbers,
  type ValueInMemory,
} from '../../analysis/memory/questions/heap-value.ts';
import { pathEdges, pathText, shortPath } from '../../analysis/memory/questions/paths.ts';
import { sourceOf } from '../../analysis/memory/questions/scripts.ts';
import { computeSummary } from '../../analysis/memory/questions/summary.ts';
import { computeSuspects } from '../../analysis/memory/suspects/suspects.ts';
import { AgentdumpError, assertNever } from '../../errors.ts';
import { type HeapFillTable, type HeapSummary, type HeapSuspect, heapSchema } from '../../model/heap.ts';
import type { Gap } from '../../model/verdict.ts';
import { completeQuery, type HeapNames } from './complete.ts';
import { fieldsInMemory, fieldsOf, type LinkList, retainersOf } from './links.ts';
import { isVast, mostLookedThrough, objectRow, referencesOf } from './object-rows.ts';
import { listOf, type NodeLists, sortByNumber, splitIntoLists } from './order.ts';
import type {
  Answers,
  AnswerTo,
  ClassListRow,
  ClassOrder,
  HeapQuestion,
  ObjectOrder,
  ObjectView,
  Part,
  QueryView,
  Rows,
} from './questions.ts';
import { tilesOf } from './tiles.ts';

const mostSuspects = 20;
const mostStrings = 2_000;
const mostFillRows = 100;
/** How many objects of a class, and fields of each, are looked at for the names of its properties. */
const mostSampled = 50;
/** The limit for a query without one of its own. */
const mostQueryRows = 5_000;
/** At each end of a path. */
const mostSteps = 24;
const mostPart = 500;
/** How many lists are kept; in the largest heaps each takes some tens of megabytes. */
const mostLists = 8;

/** The memory of the process that the heap was of. */
export interface InMemory {
  addressOf(id: number): number | undefined;
  /** Of the object that contains the address. */
  idAt(address: number): number | undefined;
  inspect(id: number, limit: number): ValueInMemory | undefined;
}

export interface SessionFacts {
  /** The name of the heap. */
  source: string;
  gaps: Gap[];
  inMemory?: InMemory | undefined;
}

export class HeapSession {
  readonly #heap: Heap;
  readonly #inMemory: InMemory | undefined;
  readonly #summary: HeapSummary;
  readonly #suspects: HeapSuspect[];
  readonly #strings: Answers['strings']['rows'];
  readonly #fill: HeapFillTable;
  readonly #lists = new Map<string, unknown>();
  /** Largest first, like all below, so that the most common order is available at once. */
  readonly #byRetained: Uint32Array;
  readonly #ofClass: NodeLists;
  readonly #dominatedBy: NodeLists;

  /** Takes as long as it needs. @param onPhase called with what is being computed. */
  constructor(heap: Heap, { source, gaps, inMemory }: SessionFacts, onPhase: (name: string) => void) {
    this.#heap = heap;
    this.#inMemory = inMemory;
    this.#summary = { schema: heapSchema, source, gaps, ...computeSummary(heap, 20) };
    void heap.aggregates;
    void heap.retainers;
    onPhase('order');
    const { classes, nodeCount, retained, root, tree } = heap;
    const all = Uint32Array.from({ length: nodeCount }, (_, node) => node);
    this.#byRetained = sortByNumber(all, (node) => retained[node]!, 'descending');
    this.#ofClass = splitIntoLists(this.#byRetained, classes.kinds.length, (node) => classes.of[node]!);
    this.#dominatedBy = splitIntoLists(this.#byRetained, nodeCount, (node) =>
      node === root ? undefined : tree.dominator[node]!,
    );
    onPhase('strings');
    this.#strings = computeDuplicateStrings(heap, mostStrings).rows;
    onPhase('fill');
    this.#fill = computeFillTable(heap, mostFillRows);
    onPhase('suspects');
    this.#suspects = computeSuspects(heap, { limit: mostSuspects });
  }

  get summary(): Answers['summary'] {
    return { ...this.#summary, root: this.#heap.snapshot.nodes.id.get(this.#heap.root) };
  }

  /** Throws `usage` for an invalid question, `not-found` for an object that does not exist. */
  answer<Question extends HeapQuestion>(question: Question): AnswerTo<Question>;
  answer(question: HeapQuestion): Answers[HeapQuestion['ask']] {
    switch (question.ask) {
      case 'summary':
        return this.summary;
      case 'classes':
        return partOf(this.#classes(question.sort, question.filter), question);
      case 'objects':
        return this.#objectRows(question);
      case 'object':
        return this.#object(this.#node(question.id));
      case 'at':
        return { id: this.#idAt(question.address) };
      case 'fields': {
        const { id, isRaw } = question;
        const list = this.#kept(`fields ${id} ${isRaw}`, () => {
          const node = this.#node(id);
          const inMemory = isRaw ? undefined : this.#valueInMemory(id);
          return inMemory
            ? fieldsInMemory(this.#heap, inMemory)
            : fieldsOf(this.#heap, node, isRaw, (own) => this.#value(own));
        });
        return linksOf(list, question);
      }
      case 'retainers':
        return linksOf(this.#retainers(this.#node(question.id)), question);
      case 'dominated':
        return this.#rowsOf(listOf(this.#dominatedBy, this.#node(question.id)), question);
      case 'tiles':
        return tilesOf(this.#heap, this.#node(question.id));
      case 'strings':
        return partOf(this.#strings, question);
      case 'suspects':
        return { suspects: this.#suspects };
      case 'complete':
        return completeQuery(question.text, question.caret, this.#names());
      case 'fill':
        return this.#fill;
      case 'query':
        return this.#query(question.text, question);
      default:
        return assertNever(question, 'question');
    }
  }

  /** Returns a recent list, or makes it. */
  #kept<List>(key: string, make: () => List): List {
    const list = this.#lists.has(key) ? (this.#lists.get(key) as List) : make();
    this.#lists.delete(key);
    this.#lists.set(key, list);
    for (const [oldest] of this.#lists) {
      if (this.#lists.size <= mostLists) break;
      this.#lists.delete(oldest);
    }
    return list;
  }

  #node(id: number): number {
    const node = this.#heap.snapshot.findById(id);
    if (node >= 0) return node;
    throw new AgentdumpError('not-found', `no object of this heap has the id ${id}`, { name: String(id) });
  }

  #classes(sort: ClassOrder, filter: string): ClassListRow[] {
    return this.#kept(`classes ${sort} ${filter}`, () => {
      const { aggregates, classes } = this.#heap;
      const wanted = filter.toLowerCase();
      const rows = classes.kinds.flatMap(({ name, place }, row): ClassListRow[] => {
        if (aggregates.count[row] === 0 || !name.toLowerCase().includes(wanted)) return [];
        const source = sourceOf(this.#heap, place);
        return [
          {
            class: row,
            name,
            count: aggregates.count[row]!,
            self: aggregates.selfSize[row]!,
            retained: aggregates.retainedSize[row]!,
            ...(source && { source }),
          },
        ];
      });
      if (sort === 'name') return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
      return rows.sort((a, b) => b[sort] - a[sort] || b.self - a.self);
    });
  }

  #objects(kind: number | undefined, sort: ObjectOrder): Uint32Array {
    const { selfSize, distances, snapshot } = this.#heap;
    const nodes = kind === undefined ? this.#byRetained : listOf(this.#ofClass, kind);
    if (sort === 'retained') return nodes;
    return this.#kept(`objects ${kind} ${sort}`, () => {
      const numbers: Record<typeof sort, (node: number) => number> = {
        self: (node) => selfSize.get(node),
        // An object without a distance counts as the farthest.
        distance: (node) => distances[node]! >>> 0,
        id: (node) => snapshot.nodes.id.get(node),
      };
      const isUpwards = sort === 'distance' || sort === 'id';
      return sortByNumber(nodes, numbers[sort], isUpwards ? 'ascending' : 'descending');
    });
  }

  #objectRows(question: Extract<HeapQuestion, { ask: 'objects' }>): Answers['objects'] {
    const { class: kind, sort } = question;
    const { classes } = this.#heap;
    const name = kind === undefined ? undefined : classes.kinds[kind]?.name;
    if (kind !== undefined && name === undefined)
      throw new AgentdumpError('not-found', `there is no class of the number ${kind}`, {
        name: String(kind),
      });
    const rows = this.#rowsOf(this.#objects(kind, sort), question);
    return name === undefined ? rows : { ...rows, className: name };
  }

  #retainers(node: number): LinkList {
    return this.#kept(`retainers ${node}`, () => retainersOf(this.#heap, node));
  }

  #rowsOf(nodes: Uint32Array, part: Part): Answers['dominated'] {
    const { from, rows, total } = partOf(nodes, part);
    return { from, total, rows: [...rows].map((node) => objectRow(this.#heap, node)) };
  }

  /** The page of an object and the list of its fields need the same. */
  #value(node: number): HeapValueKeys {
    return this.#kept(`value ${node}`, () => computeHeapValueKeys(this.#heap, node, mostLookedThrough));
  }

  /** Only with memory; undefined for V8's own objects. */
  #valueInMemory(id: number): ValueInMemory | undefined {
    return this.#kept(`memory ${id}`, () => this.#inMemory?.inspect(id, mostLookedThrough));
  }

  #idAt(address: string): number {
    const id = this.#inMemory?.idAt(Number(address));
    if (id !== undefined) return id;
    throw new AgentdumpError('not-found', `no object that something keeps alive is at ${address}`, {
      address,
    });
  }

  #object(node: number): ObjectView {
    const heap = this.#heap;
    const isLarge = isVast(heap, node);
    const value = isLarge ? undefined : this.#value(node);
    const id = heap.snapshot.nodes.id.get(node);
    const inMemory = this.#valueInMemory(id);
    const source = inMemory?.source ?? sourceOf(heap, heap.snapshot.location(node));
    const address = this.#inMemory?.addressOf(id);
    return {
      object: objectRow(heap, node),
      type: heap.snapshot.nodeTypeName(node),
      class: heap.classes.of[node]!,
      value: {
        kind: kindOf(heap, node),
        text: inMemory?.text ?? value?.text ?? '',
        ...(source && { source }),
        ...(value?.allocatedAt && { allocatedAt: value.allocatedAt }),
        ...(!inMemory && (value?.lacksNumbers ?? (isLarge && lacksNumbers(heap))) && { lacksNumbers: true }),
      },
      ...(address !== undefined && { address: `0x${address.toString(16)}` }),
      dominator: node === heap.root ? null : objectRow(heap, heap.tree.dominator[node]!),
      path: this.#kept(`path ${node}`, () => this.#path(node)),
      counts: {
        fields: inMemory?.entries.length ?? value?.entryCount ?? referencesOf(heap, node),
        retainers: heap.retainers.to(node).length,
        dominated: heap.dominated.of(node).length,
      },
    };
  }

  #path(node: number): ObjectView['path'] {
    const heap = this.#heap;
    const edges = pathEdges(heap, node);
    const leftOut = Math.max(0, edges.length - 2 * mostSteps);
    const shown = leftOut ? [...edges.slice(0, mostSteps), ...edges.slice(-mostSteps)] : edges;
    const steps = shown.map((edge) => ({
      name: heap.snapshot.edgeName(edge),
      object: objectRow(heap, heap.snapshot.edgeTarget(edge)),
    }));
    return { steps, leftOut, text: shortPath(pathText(heap, node, edges)) };
  }

  #names(): HeapNames {
    const names = this.#classes('retained', '').map(({ name }) => name);
    return {
      classes: [...new Set(names)],
      types: this.#summary.byType.map(({ name }) => name),
      propertiesOf: (name) => this.#kept(`properties ${name}`, () => this.#propertiesOf(name)),
    };
  }

  /** Of its largest objects, those that most of them have first. */
  #propertiesOf(className: string): string[] {
    const heap = this.#heap;
    const counts = new Map<string, number>();
    const kinds = heap.classes.kinds.flatMap(({ name }, kind) => (name === className ? [kind] : []));
    for (const kind of kinds)
      for (const node of listOf(this.#ofClass, kind).subarray(0, mostSampled)) {
        const { total, row } = fieldsOf(heap, node, isVast(heap, node));
        for (let at = 0; at < Math.min(total, mostSampled); at++) {
          const { name } = row(at);
          if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name))
            counts.set(name, (counts.get(name) ?? 0) + 1);
        }
      }
    return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  }

  #query(text: string, part: Part): QueryView {
    const { nodes, table, matches, notes } = this.#kept(`query ${text}`, () =>
      runQuery(this.#heap, parseQuery(text), mostQueryRows),
    );
    const ids = nodes.map(({ id }) => id);
    const columns = table?.columns ?? nodeColumns;
    const all =
      table?.rows ??
      nodes.map((row) => [
        row.id,
        row.class,
        row.name.slice(0, 200),
        row.selfSizeBytes,
        row.retainedSizeBytes,
      ]);
    const { from, rows, total } = partOf(all, part);
    return { columns, from, total, rows, matches, ids: ids.slice(from, from + rows.length), notes };
  }
}

const nodeColumns: QueryView['columns'] = [
  { name: 'id', kind: 'id' },
  { name: 'class', kind: 'value' },
  { name: 'name', kind: 'value' },
  { name: 'self', kind: 'bytes' },
  { name: 'retained', kind: 'bytes' },
];

/** Limits how much may be requested. */
function clamp({ from, count }: Part, total: number): { first: number; end: number } {
  const first = Math.min(Math.max(0, Math.floor(from) || 0), total);
  return { first, end: Math.min(total, first + Math.min(mostPart, Math.max(0, Math.floor(count) || 0))) };
}

function partOf<Row>(
  list: ArrayLike<Row> & { slice(from: number, to: number): ArrayLike<Row> },
  part: Part,
): Rows<Row> {
  const { first, end } = clamp(part, list.length);
  return { total: list.length, from: first, rows: Array.from(list.slice(first, end)) };
}

function linksOf(list: LinkList, part: Part): Answers['fields'] {
  const { first, end } = clamp(part, list.total);
  return {
    total: list.total,
    from: first,
    rows: Array.from({ length: end - first }, (_, n) => list.row(first + n)),
  };
}
