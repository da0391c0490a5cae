/**
 * The outer structure of a heap snapshot: one JSON object whose members are sections. Input is passed window by window. Each
 * window ends with a NUL byte, and bytes that a section did not consume are at the front of the next window. Unknown sections
 * are skipped, whatever they contain. No recursion, and no string of a section's size.
 */
import { MalformedInput } from '../../../errors.ts';
import { type Allocator, createEdgeColumns, type EdgeColumns, privateMemory } from '../columns.ts';
import { formatName } from '../layout.ts';
import { EdgeRecords } from '../sections/edge-records.ts';
import { readHeader, type SnapshotHeader } from '../sections/header.ts';
import { LocationRecords } from '../sections/locations.ts';
import { NodeRecords } from '../sections/node-records.ts';
import { StringIndex } from '../sections/string-index.ts';
import { TraceTree } from '../sections/trace-tree.ts';
import { NumberList } from './number-list.ts';
import { Byte, skipSpace } from './numbers.ts';
import { ValueSkipper } from './value-skipper.ts';

/** V8's header is under 3 KB. */
const maxHeaderBytes = 1 << 20;

type Section = { scan(bytes: Buffer, start: number, end: number): number; done: boolean };

export interface ScannerHooks {
  /** Called when the header is known; returns the memory for the columns. Throws if the counts are not plausible. */
  checkHeader(header: SnapshotHeader): Allocator;
  /** Receives the raw bytes of the strings section, for sources that can't be read again. */
  keepStrings?(bytes: Buffer): void;
}

export class SnapshotScanner {
  header: SnapshotHeader | undefined;
  nodes: NodeRecords | undefined;
  edges: EdgeRecords | undefined;
  edgeColumns: EdgeColumns | undefined;
  readonly strings = new StringIndex();
  /** Absolute offset of the byte after the opening bracket of the strings section. */
  stringsOffset = -1;
  locations: LocationRecords | undefined;
  readonly samples = new NumberList('samples');
  readonly traceFunctions = new NumberList('trace_function_infos');
  readonly traceTree = new TraceTree();
  /** Whether the closing brace was read. */
  done = false;
  /** The section being read, for messages and gaps. */
  sectionName = '';
  /** True if nothing can be consumed from a full window: see StringIndex.scan. */
  mustMove = false;
  readonly #hooks: ScannerHooks;
  #memory: Allocator = privateMemory;
  #section: Section | undefined;
  #state: 'start' | 'key' | 'afterValue' = 'start';

  constructor(hooks: ScannerHooks) {
    this.#hooks = hooks;
  }

  /**
   * Consumes bytes from [start, end) and returns the position of the first byte that was not consumed. `base` is the absolute
   * offset of bytes[0].
   */
  scan(bytes: Buffer, start: number, end: number, base: number): number {
    let at = start;
    while (!this.done) {
      const before = at;
      if (this.#section) at = this.#scanSection(this.#section, bytes, at, end, base);
      else at = this.#scanOutline(bytes, at, end, base);
      if (at === before || at >= end) break;
    }
    return at;
  }

  #scanSection(section: Section, bytes: Buffer, start: number, end: number, base: number): number {
    const at = this.#isStrings
      ? this.strings.scan(bytes, start, end, base - this.stringsOffset, this.mustMove)
      : section.scan(bytes, start, end);
    if (this.#isStrings) this.#hooks.keepStrings?.(bytes.subarray(start, at));
    if (section.done) {
      this.#section = undefined;
      this.#state = 'afterValue';
    }
    return at;
  }

  get #isStrings(): boolean {
    return this.#section === this.#stringSection;
  }

  /** The rest of the edges was read by the other thread: continues after their bracket. */
  skipEdges(maxName: number): void {
    const edges = this.edges!;
    edges.row = edges.columns.count;
    edges.done = true;
    edges.maxName = Math.max(edges.maxName, maxName);
    this.#section = undefined;
    this.#state = 'afterValue';
  }

  readonly #stringSection: Section = Object.defineProperty({ scan: () => 0, done: false }, 'done', {
    get: () => this.strings.done,
  });

  /** One step between sections: a brace, a comma, or a key with the start of its value. */
  #scanOutline(bytes: Buffer, start: number, end: number, base: number): number {
    const at = skipSpace(bytes, start, end);
    if (at >= end) return at;
    const byte = bytes[at];
    if (this.#state === 'start') {
      if (byte !== Byte.openBrace) throw this.#malformed('{', bytes, at, base);
      this.#state = 'key';
      return at + 1;
    }
    if (this.#state === 'afterValue') {
      if (byte === Byte.closeBrace) this.done = true;
      else if (byte !== Byte.comma) throw this.#malformed(', or }', bytes, at, base);
      this.#state = 'key';
      return at + 1;
    }
    if (byte !== Byte.quote) throw this.#malformed('a key', bytes, at, base);
    return this.#scanKey(bytes, at, end, base);
  }

  #scanKey(bytes: Buffer, at: number, end: number, base: number): number {
    const closing = bytes.indexOf(Byte.quote, at + 1);
    if (closing < 0 || closing >= end) {
      if (end - at > 4096) throw this.#malformed('a key of V8', bytes, at, base);
      return at;
    }
    const colon = skipSpace(bytes, closing + 1, end);
    const value = skipSpace(bytes, colon + 1, end);
    if (value >= end) return at;
    if (bytes[colon] !== Byte.colon) throw this.#malformed(':', bytes, colon, base);
    const key = bytes.toString('latin1', at + 1, closing);
    if (key === 'snapshot') return this.#scanHeader(bytes, at, value, end, base);
    this.sectionName = key;
    return this.#enter(key, bytes, value, base);
  }

  /** Starts the section at `value`; returns the position where its first item may be. */
  #enter(key: string, bytes: Buffer, value: number, base: number): number {
    this.#section = this.#sectionFor(key);
    if (this.#section instanceof ValueSkipper) return value;
    if (bytes[value] !== Byte.openBracket) throw this.#malformed(`[ after "${key}"`, bytes, value, base);
    if (key === 'strings') this.stringsOffset = base + value + 1;
    return value + 1;
  }

  #sectionFor(key: string): Section {
    switch (key) {
      case 'nodes':
        this.#refuseTwice(this.nodes, key);
        this.nodes = new NodeRecords(this.#requireHeader(key), this.#memory);
        return this.nodes;
      case 'edges':
        this.#refuseTwice(this.edges, key);
        this.edgeColumns ??= createEdgeColumns(this.#requireHeader(key).edgeCount, this.#memory);
        this.edges = new EdgeRecords(this.#requireHeader(key), this.edgeColumns);
        return this.edges;
      case 'strings':
        this.#refuseTwice(this.stringsOffset >= 0 || undefined, key);
        return this.#stringSection;
      case 'locations':
        this.#refuseTwice(this.locations, key);
        this.locations = new LocationRecords(this.#requireHeader(key), this.#memory);
        return this.locations;
      case 'samples':
        return this.#once(this.samples, key);
      case 'trace_function_infos':
        return this.#once(this.traceFunctions, key);
      case 'trace_tree':
        return this.#once(this.traceTree, key);
      default:
        return new ValueSkipper();
    }
  }

  #once(section: Section, key: string): Section {
    this.#refuseTwice(section.done || undefined, key);
    return section;
  }

  #refuseTwice(existing: unknown, key: string): void {
    if (existing !== undefined)
      throw new MalformedInput(`not a heap snapshot: the section "${key}" is there twice`, {
        format: formatName,
        field: key,
      });
  }

  #requireHeader(key: string): SnapshotHeader {
    if (!this.header)
      throw new MalformedInput(`not a heap snapshot: "${key}" comes before "snapshot"`, {
        format: formatName,
        field: 'snapshot',
        wanted: 'the first member',
      });
    return this.header;
  }

  /** The header is small: it is consumed as a whole once it is complete. */
  #scanHeader(bytes: Buffer, keyAt: number, value: number, end: number, base: number): number {
    const skipper = new ValueSkipper();
    const after = skipper.scan(bytes, value, end);
    if (!skipper.done && end - value > maxHeaderBytes)
      throw this.#malformed('a smaller header', bytes, value, base);
    if (!skipper.done) return keyAt;
    this.#refuseTwice(this.header, 'snapshot');
    this.header = readHeader(parseHeader(bytes.toString('utf8', value, after)));
    this.#memory = this.#hooks.checkHeader(this.header);
    this.#state = 'afterValue';
    return after;
  }

  #malformed(wanted: string, bytes: Buffer, at: number, base: number): MalformedInput {
    const available = JSON.stringify(bytes.toString('latin1', at, Math.min(at + 12, bytes.length)));
    return new MalformedInput(`not a heap snapshot: ${wanted} expected at byte ${base + at}`, {
      format: formatName,
      field: this.sectionName || 'snapshot',
      offset: base + at,
      wanted,
      available,
    });
  }
}

function parseHeader(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MalformedInput(
      'not a heap snapshot: its "snapshot" member is not JSON',
      { format: formatName, field: 'snapshot' },
      cause,
    );
  }
}
