/**
 * One lookup in a map, as V8's positions need it. V8 points at the `await`, `new` or parenthesis that begins an
 * expression; minifiers map only the operand behind it, and the nearest mapping before it then belongs to the
 * statement before. So where no mapping begins at the place itself, the operand's is taken.
 */
import type { OriginalPosition, SourceMapReader } from '../../formats/source-map/source-map.ts';
import { isShifted } from './redacted-text.ts';
import type { ScriptText } from './scripts.ts';

const prefix = /(?:(?:await|new|yield|void|typeof|async)\b\s*|[(!]\s*){1,4}/y;

/** The source's position of a 1-based generated one. `text` is needed for the correction only. */
export function findOriginalPosition(
  reader: SourceMapReader,
  text: ScriptText | undefined,
  { line, column }: { line: number; column: number },
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

/** Whether a mapping begins exactly there: to its left the map then says something else. */
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
