/**
 * Looks up one position in a script's source map and verifies the answer: it counts only if the surrounding text fits the
 * map, the source has such a position, and the mapping is close enough. V8 points at the `await`, `new` or parenthesis that
 * begins an expression, but minifiers map only the operand after it, so that the nearest mapping before it belongs to the
 * previous statement. If no mapping begins at the position itself, the operand's mapping is used.
 */
import type { OriginalPosition, SourceMapReader } from '../../formats/source-map/source-map.ts';
import { findMisfitNear, isStretched } from './map-fit.ts';
import { isRedacted, isShifted } from './redacted-text.ts';
import type { ScriptMap, ScriptText } from './script-text.ts';

export interface Place {
  line: number;
  column: number;
}

export type MapAnswer =
  /** `lines`: the source's text, if the map contains it. */
  | { kind: 'original'; original: OriginalPosition; lines: readonly string[] | undefined }
  /** The map says that this position has no source. */
  | { kind: 'generated' }
  /** The map can't be trusted here, or at all; a gap gives the reason. */
  | { kind: 'unknown' };

/** Number of columns for which one check of the surrounding words is enough. */
const neighbourhoodChars = 500;

const unknown: MapAnswer = { kind: 'unknown' };

/** The source position of a 1-based generated one. `text`: the script that ran, if the bundle has it. */
export function askMap(map: ScriptMap, text: ScriptText | undefined, place: Place): MapAnswer {
  if (!map.trusted) return unknown;
  const misfit = text && findMisfit(map, text, place);
  if (misfit) return refuse(map, misfit);
  const original = findOriginalPosition(map.reader, text, place);
  if (!original) return { kind: 'generated' };
  const lines = map.linesOf(original.source);
  if (!lines) return { kind: 'original', original, lines };
  const { source, line, column } = original;
  if (!hasPlace(lines, original))
    return refuse(map, `it leads to line ${line}, column ${column} of ${source}, which has no such place`);
  if (isStretched(map.reader, place, original, lines[line - 1] ?? '')) {
    map.doubt(`nothing is mapped near line ${place.line}, column ${place.column}`);
    return unknown;
  }
  return { kind: 'original', original, lines };
}

function refuse(map: ScriptMap, reason: string): MapAnswer {
  map.distrust(reason);
  return unknown;
}

function findMisfit(map: ScriptMap, text: ScriptText, { line, column }: Place): string | undefined {
  if (!hasPlace(text.lines, { line, column }) && !isRedacted(text.text))
    return `line ${line}, column ${column} is outside of the script's text`;
  const neighbourhood = `${line}:${Math.floor(column / neighbourhoodChars)}`;
  if (map.fitting.has(neighbourhood)) return undefined;
  const misfit = findMisfitNear(map.reader, text, line, column, map.linesOf);
  if (!misfit) map.fitting.add(neighbourhood);
  return misfit;
}

/** Whether a text contains a 1-based position, as far as redaction allows to check. */
export function hasPlace(lines: readonly string[], place: Place): boolean {
  const length = lines[place.line - 1]?.length;
  return length !== undefined && (place.column <= length + 1 || isShifted(lines, place));
}

const prefix = /(?:(?:await|new|yield|void|typeof|async)\b\s*|[(!]\s*){1,4}/y;

/** The nearest mapping, or that of the following operand. */
function findOriginalPosition(
  reader: SourceMapReader,
  text: ScriptText | undefined,
  { line, column }: Place,
): OriginalPosition | undefined {
  const nearest = reader.findOriginal(line, column);
  if (!text || isShifted(text.lines, { line, column }) || beginsMapping(reader, line, column, nearest))
    return nearest;
  prefix.lastIndex = column - 1;
  const skipped = prefix.exec(text.lines[line - 1] ?? '')?.[0].length ?? 0;
  if (skipped === 0) return nearest;
  const operand = reader.findOriginal(line, column + skipped);
  return operand && beginsMapping(reader, line, column + skipped, operand) ? operand : nearest;
}

/** Whether a mapping begins exactly at this column, so that the column to its left has another one. */
export function beginsMapping(
  reader: SourceMapReader,
  line: number,
  column: number,
  found: OriginalPosition | undefined,
): boolean {
  const left = reader.findOriginal(line, column - 1);
  if (!left || !found) return left !== found;
  return left.line !== found.line || left.column !== found.column || left.source !== found.source;
}
