/** What the page asks of an open heap, and what it is told. Types only; sizes are bytes, ids the snapshot's own. */
import type {
  HeapGrownNode,
  HeapGrowthRow,
  HeapPath,
  HeapQueryTable,
  HeapSource,
  HeapStringRow,
  HeapSummary,
  HeapSuspect,
  HeapValue,
} from '../../model/heap.ts';
import type { Gap } from '../../model/verdict.ts';

export type ClassOrder = 'retained' | 'self' | 'count' | 'name';
export type ObjectOrder = 'retained' | 'self' | 'distance' | 'id';

/** Rows `from` to `from + count` of a list. */
export interface Part {
  from: number;
  count: number;
}

export type HeapQuestion =
  | { ask: 'summary' }
  | ({ ask: 'classes'; sort: ClassOrder; filter: string } & Part)
  /** Of one class, by its number; of all without it. */
  | ({ ask: 'objects'; class?: number; sort: ObjectOrder } & Part)
  | { ask: 'object'; id: number }
  /** What it refers to: its properties, entries and variables; `isRaw`: each slot that V8 knows. */
  | ({ ask: 'fields'; id: number; isRaw: boolean } & Part)
  | ({ ask: 'retainers'; id: number } & Part)
  /** Whom it dominates directly. */
  | ({ ask: 'dominated'; id: number } & Part)
  | { ask: 'tiles'; id: number }
  | ({ ask: 'strings' } & Part)
  | { ask: 'suspects' }
  | ({ ask: 'query'; text: string } & Part);

export interface Rows<Row> {
  total: number;
  from: number;
  rows: Row[];
}

export interface ObjectRow {
  id: number;
  class: string;
  /** One line. */
  text: string;
  self: number;
  retained: number;
  /** Null where nothing strong leads to it. */
  distance: number | null;
}

export interface ClassListRow {
  /** Its number in this heap. */
  class: number;
  name: string;
  count: number;
  self: number;
  retained: number;
  source?: HeapSource;
}

/** By one reference. */
export interface LinkRow {
  name: string;
  /** V8's kind of reference; absent for an entry of a Map or Set. */
  kind?: string;
  /** Absent where the slot holds a number, which is no object. */
  object?: ObjectRow;
}

export interface ObjectView {
  object: ObjectRow;
  type: string;
  class: number;
  value: Pick<HeapValue, 'kind' | 'text' | 'source' | 'allocatedAt' | 'lacksNumbers'>;
  /** Null for the root. */
  dominator: ObjectRow | null;
  /** Of a long one the first steps and the last. */
  path: { steps: PathStep[]; leftOut: number; text: HeapPath['text'] };
  counts: { fields: number; retainers: number; dominated: number };
}

export interface PathStep {
  name: string;
  object: ObjectRow;
}

/** A rectangle of the treemap: an object with all that it dominates, or small ones of one class together. */
export interface Tile {
  name: string;
  bytes: number;
  count: number;
  /** Of one object. */
  id?: number;
  /** Of several, the number of their class. */
  class?: number;
  /** What is in the object, largest first; of those that are large enough to show it. */
  inside?: Tile[];
}

export interface TilesView {
  object: ObjectRow;
  /** From the root to the object's dominator; of a long way the last. */
  above: ObjectRow[];
  tiles: Tile[];
}

export interface QueryView extends Rows<(string | number | boolean | null)[]> {
  columns: HeapQueryTable['columns'];
  /** Nodes that match. */
  matches: number;
  /** Ids of the rows' objects, where a row is one. */
  ids: number[];
  notes: string[];
}

/** Of two or more snapshots, the earliest first. */
export interface GrowthView {
  snapshots: { totalBytes: number; nodes: number }[];
  /** `place`: of several processes, whose objects are told apart by class and retaining path. */
  matchedBy: 'id' | 'place';
  /** Those that grew most first. */
  classes: HeapGrowthRow[];
  classCount: number;
  grown: HeapGrownNode[];
  suspects: HeapSuspect[];
  gaps: Gap[];
}

export interface Answers {
  summary: HeapSummary & { root: number };
  classes: Rows<ClassListRow>;
  objects: Rows<ObjectRow> & { className?: string };
  object: ObjectView;
  fields: Rows<LinkRow>;
  retainers: Rows<LinkRow>;
  dominated: Rows<ObjectRow>;
  tiles: TilesView;
  strings: Rows<HeapStringRow>;
  suspects: { suspects: HeapSuspect[] };
  query: QueryView;
}

export type AnswerTo<Question extends HeapQuestion> = Answers[Question['ask']];
