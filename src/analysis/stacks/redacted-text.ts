/**
 * Texts in a bundle have placeholders where secrets stood, and those are longer or shorter: behind one, the columns of
 * its line are no longer those that V8 and the map speak of. So nothing is concluded from a line behind a placeholder.
 */

/** What every placeholder begins with; its whole form is the redaction's own business. */
const placeholderStart = '[redacted:';

/** Whether a 1-based position stands behind a placeholder in its line. */
export function isShifted(
  lines: readonly string[],
  { line, column }: { line: number; column: number },
): boolean {
  return soundLength(lines[line - 1] ?? '') < column - 1;
}

/** How many characters of a line are where they were; all that may come when it holds no placeholder. */
export function soundLength(line: string): number {
  const at = line.indexOf(placeholderStart);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

export function isRedacted(text: string): boolean {
  return text.includes(placeholderStart);
}
