/** What a lookup in the mappings of a source map gives, whoever decoded them. */

/** One mapping. All numbers 0-based, as in the file; `source` and `name` index the map's lists, whose ends they may miss. */
export interface Segment {
  source: number;
  line: number;
  column: number;
  name?: number;
}

export interface SegmentLookup {
  /**
   * The mapping that covers a generated position: the last one on its line that begins at or before its column.
   * Undefined where there is none, or where the map says that the place comes from no source.
   */
  find(generatedLine: number, generatedColumn: number): Segment | undefined;
  /** Releases what the lookup holds outside the JavaScript heap. */
  close(): void;
}
