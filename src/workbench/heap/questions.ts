/** The page's questions to an open heap and their answers. Types only; sizes are in bytes, ids are those of the snapshot. */
import type {
  HeapFillTable,
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
  /** The objects of one class, by its number; all objects without it. */
  | ({ ask: 'objects'; class?: number; sort: ObjectOrder } & Part)
  | { ask: 'object'; id: number }
  /** Of a core: the object at an address, `0x…`. */
  | { ask: 'at'; address: string }
  /** What it references: properties, entries and variables; `isRaw`: each slot that V8 knows. */
  | ({ ask: 'fields'; id: number; isRaw: boolean } & Part)
  | ({ ask: 'retainers'; id: number } & Part)
  /** The objects that it dominates directly. */
  | ({ ask: 'dominated'; id: number } & Part)
  | { ask: 'tiles'; id: number }
  | ({ ask: 'strings' } & Part)
  | { ask: 'suspects' }
  | ({ ask: 'query'; text: string } & Part)
  /** What may follow in a query, whose cursor is at `caret`. */
  | { ask: 'complete'; text: string; caret: number }
  /** How full the collections are. */
  | { ask: 'fill' };

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
  /** Null if no strong reference leads to it. */
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

/** One reference. */
export interface LinkRow {
  name: string;
  /** V8's kind of the reference; absent for an entry of a Map or Set. */
  kind?: string;
  /** Absent if the slot holds a number, which is no object. */
  object?: ObjectRow;
  /** Of such a value, if it is known. */
  text?: string;
}

export interface ObjectView {
  object: ObjectRow;
  /** In the memory of a core, `0x…`. */
  address?: string;
  type: string;
  class: number;
  value: Pick<HeapValue, 'kind' | 'text' | 'source' | 'allocatedAt' | 'lacksNumbers'>;
  /** Null for the root. */
  dominator: ObjectRow | null;
  /** The first and last steps of a long path. */
  path: { steps: PathStep[]; leftOut: number; text: HeapPath['text'] };
  counts: { fields: number; retainers: number; dominated: number };
}

export interface PathStep {
  name: string;
  object: ObjectRow;
}

/** A rectangle of the treemap: an object with everything it dominates, or several small ones of a class. */
export interface Tile {
  name: string;
  bytes: number;
  count: number;
  /** For a single object. */
  id?: number;
  /** For several: the number of their class. */
  class?: number;
  /** The objects inside of it that are large enough to be shown, largest first. */
  inside?: Tile[];
}

export interface TilesView {
  object: ObjectRow;
  /** From the root to the object's dominator; only the end of a long path. */
  above: ObjectRow[];
  tiles: Tile[];
}

export interface QueryView extends Rows<(string | number | boolean | null)[]> {
  columns: HeapQueryTable['columns'];
  /** The number of matching nodes. */
  matches: number;
  /** Ids of the rows' objects, if rows are objects. */
  ids: number[];
  notes: string[];
}

/** Each option replaces the text from `from` to `to`. */
export interface Completion {
  from: number;
  to: number;
  options: CompletionOption[];
}

export interface CompletionOption {
  text: string;
  /** What it is, in a word. */
  what: string;
}

/** For two or more snapshots, the earliest first. */
export interface GrowthView {
  snapshots: { totalBytes: number; nodes: number }[];
  /** `place`: snapshots of different processes, whose objects are matched by class and retaining path. */
  matchedBy: 'id' | 'place';
  /** Sorted by growth. */
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
  at: { id: number };
  fields: Rows<LinkRow>;
  retainers: Rows<LinkRow>;
  dominated: Rows<ObjectRow>;
  tiles: TilesView;
  strings: Rows<HeapStringRow>;
  suspects: { suspects: HeapSuspect[] };
  query: QueryView;
  complete: Completion;
  fill: HeapFillTable;
}

export type AnswerTo<Question extends HeapQuestion> = Answers[Question['ask']];
