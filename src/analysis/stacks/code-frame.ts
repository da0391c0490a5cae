/** Cuts a few lines of text around a position. Very long lines are cut to a window around the column. */
import type { SourceLine } from '../../model/thread.ts';

const lineBreak = /\r\n|[\n\r\u2028\u2029]/;
/** About two lines of a wide terminal, with the column in the middle. */
const windowChars = 160;

/** Splits a text at JavaScript's line terminators. */
export function splitLines(text: string): string[] {
  return text.split(lineBreak);
}

/** The lines around a 1-based position, `around` on each side; undefined if the position is outside the text. */
export function cutCodeFrame(
  lines: readonly string[],
  line: number,
  column: number,
  around: number,
): SourceLine[] | undefined {
  const text = lines[line - 1];
  if (text === undefined || column < 1 || column > text.length + 1) return undefined;
  const frame: SourceLine[] = [];
  const last = Math.min(lines.length, line + around);
  for (let at = Math.max(1, line - around); at <= last; at++)
    frame.push(cutLine(lines[at - 1] as string, at, at === line ? column : 1));
  return frame;
}

function cutLine(text: string, line: number, column: number): SourceLine {
  if (text.length <= windowChars) return { line, text };
  const start = Math.min(Math.max(0, column - 1 - windowChars / 2), text.length - windowChars);
  return {
    line,
    text: text.slice(start, start + windowChars),
    ...(start > 0 ? { startColumn: start + 1 } : {}),
    lengthChars: text.length,
  };
}
