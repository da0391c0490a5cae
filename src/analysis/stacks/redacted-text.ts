/**
 * Placeholders in the texts of a bundle are longer or shorter than the secrets that they replace: after one, the columns of
 * its line don't match those of V8 and of the map. Nothing is concluded from the rest of such a line.
 */

/** The start of every placeholder; src/redaction defines the whole form. */
const placeholderStart = '[redacted:';

/** Whether a 1-based position is after a placeholder in its line. */
export function isShifted(
  lines: readonly string[],
  { line, column }: { line: number; column: number },
): boolean {
  return soundLength(lines[line - 1] ?? '') < column - 1;
}

/** How many characters of a line are at their original columns; infinite if it has no placeholder. */
export function soundLength(line: string): number {
  const at = line.indexOf(placeholderStart);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

export function isRedacted(text: string): boolean {
  return text.includes(placeholderStart);
}
