/** A loaded script's text, and the map from it to its sources. */
import type { SourceMapReader } from '../../formats/source-map/source-map.ts';

export interface ScriptText {
  text: string;
  lines: readonly string[];
}

export interface ScriptMap {
  reader: SourceMapReader;
  /** Path of a source as shown to people. */
  pathOf(source: string): string;
  /** The lines of a source's text, if the map contains it. */
  linesOf(source: string): readonly string[] | undefined;
  /** The lines of the file on disk at the death, which may have changed since the build. */
  diskLinesOf(source: string): readonly string[] | undefined;
  /** Called when an answer of this map is wrong: the map is not used again. */
  distrust(reason: string): void;
  /** Called when one answer is of no use; the map is still used. Reported once per script. */
  doubt(reason: string): void;
  trusted: boolean;
  /** Areas of the generated text that were found to fit the map. */
  readonly fitting: Set<string>;
}
