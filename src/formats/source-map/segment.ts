/** The result of a lookup in the mappings of a source map, common to both decoders. */

/**
 * One mapping. All numbers are 0-based, as in the file; `source` and `name` are indexes into the map's lists, and may be out
 * of range.
 */
export interface Segment {
  source: number;
  line: number;
  column: number;
  name?: number;
}

export interface SegmentLookup {
  /**
   * The mapping that covers a generated position: the last one on its line that begins at or before its column. Undefined if
   * there is none, or if the map states that the position has no source.
   */
  find(generatedLine: number, generatedColumn: number): Segment | undefined;
  /** Releases memory outside of the JavaScript heap. */
  close(): void;
}
