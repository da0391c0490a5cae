/** A loaded script's text, and the map that leads from it to its sources. */
import type { SourceMapReader } from '../../formats/source-map/source-map.ts';

export interface ScriptText {
  text: string;
  lines: readonly string[];
}

export interface ScriptMap {
  reader: SourceMapReader;
  /** Path of a source, as a person knows it. */
  pathOf(source: string): string;
  /** Lines of a source's text, where the map holds it. */
  linesOf(source: string): readonly string[] | undefined;
  /** The same from the file on the disk at the death, which may have been changed since the build. */
  diskLinesOf(source: string): readonly string[] | undefined;
  /** Something was found wrong with an answer of this map: it is not asked again. */
  distrust(reason: string): void;
  /** One answer is of no use; the map stays. Told once a script. */
  doubt(reason: string): void;
  trusted: boolean;
  /** Neighbourhoods of the generated text that were found to fit the map. */
  readonly fitting: Set<string>;
}
