/**
 * Cuts texts that the redactor has not seen yet. Half a credential has no shape to be known by, and its end not even the
 * public prefix: so the word at the cut goes with what is cut.
 */

const border = /[\s"'`,;{}()<>[\]]/;
/** No credential but a key file is longer, and that one has lines. */
const longestWord = 8192;

/** The first `limit` characters without a word that goes on behind them. */
export function startOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = limit;
  while (end > 0 && limit - end < longestWord && !border.test(text[end - 1] ?? ' ')) end--;
  return text.slice(0, end);
}
