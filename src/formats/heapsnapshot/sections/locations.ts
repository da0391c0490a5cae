/**
 * The `locations` section: source position of a function, or of an object's constructor. Each place is stored once, because a
 * million objects have a few hundred constructors. Lines and columns are 0-based, as in V8.
 */
import type { Allocator } from '../columns.ts';
import type { ScanKernel } from '../scan/scan-kernel.ts';
import type { SnapshotHeader } from './header.ts';
import { RecordReader } from './record-reader.ts';

export interface SourcePlace {
  scriptId: number;
  /** 0-based. */
  line: number;
  /** 0-based. */
  column: number;
}

/** Number of places that fit two bytes per node; 0 means none. */
const maxNarrow = 0xffff;

export class LocationRecords extends RecordReader {
  readonly #header: SnapshotHeader;
  readonly #positions: [node: number, script: number, line: number, column: number];
  readonly #placeNumbers = new Map<number, Map<number, number>>();
  /** The first one means none. */
  readonly #places: (SourcePlace | undefined)[] = [undefined];
  #placeOf: Uint16Array | Uint32Array;
  #lastPlace = 0;

  constructor(header: SnapshotHeader, memory: Allocator) {
    super('locations', header.location?.fieldCount ?? 1, undefined);
    const at = (name: string): number => header.location?.position.get(name) ?? 0;
    this.#header = header;
    this.#positions = [at('object_index'), at('script_id'), at('line'), at('column')];
    this.#placeOf = memory.halves(header.location ? header.nodeCount : 0, 'place');
  }

  protected override takeMany(kernel: ScanKernel, start: number): number {
    const fields = this.#header.location?.fieldCount ?? 1;
    const rows = kernel.code.scanNumbers(start, Math.floor(kernel.code.numberCount.value / fields), fields);
    const numbers = kernel.words(0, rows * fields);
    const [nodeAt, scriptAt, lineAt, columnAt] = this.#positions;
    for (let at = 0; at < numbers.length; at += fields)
      this.#place(
        numbers[at + nodeAt]!,
        numbers[at + scriptAt]!,
        numbers[at + lineAt]!,
        numbers[at + columnAt]!,
      );
    this.row += rows;
    return kernel.code.position.value;
  }

  protected override take(record: Float64Array): void {
    const [nodeAt, scriptAt, lineAt, columnAt] = this.#positions;
    this.#place(record[nodeAt]!, record[scriptAt]!, record[lineAt]!, record[columnAt]!);
  }

  /** `object_index` is an offset into the flat node array, not an ordinal. Invalid ones are ignored. */
  #place(objectIndex: number, scriptId: number, line: number, column: number): void {
    const node = objectIndex / this.#header.node.fieldCount;
    if (!Number.isInteger(node) || node >= this.#placeOf.length) return;
    const place = this.#number(scriptId, line, column);
    if (place > maxNarrow && this.#placeOf instanceof Uint16Array)
      this.#placeOf = Uint32Array.from(this.#placeOf);
    this.#placeOf[node] = place;
  }

  #number(scriptId: number, line: number, column: number): number {
    const last = this.#places[this.#lastPlace];
    if (last && last.scriptId === scriptId && last.line === line && last.column === column)
      return this.#lastPlace;
    const ofScript = this.#placeNumbers.get(scriptId) ?? new Map<number, number>();
    this.#placeNumbers.set(scriptId, ofScript);
    const key = line * 0x100000 + column;
    const known = ofScript.get(key);
    this.#lastPlace = known ?? this.#places.push({ scriptId, line, column }) - 1;
    if (known === undefined) ofScript.set(key, this.#lastPlace);
    return this.#lastPlace;
  }

  result(): Locations {
    return new Locations(this.#placeOf, this.#places);
  }
}

export class Locations {
  /** By ordinal: index into `places`, 0 for none; empty if the file has no locations. */
  readonly placeOf: Uint16Array | Uint32Array;
  readonly places: readonly (SourcePlace | undefined)[];

  constructor(placeOf: Uint16Array | Uint32Array, places: readonly (SourcePlace | undefined)[]) {
    this.placeOf = placeOf;
    this.places = places;
  }

  find(ordinal: number): SourcePlace | undefined {
    return this.places[this.placeOf[ordinal] ?? 0];
  }
}

export const noLocations = new Locations(new Uint16Array(0), [undefined]);
