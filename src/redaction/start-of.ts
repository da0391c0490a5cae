/**
 * Truncates texts that are not redacted yet. Half a credential may have no recognizable shape, and its second half not even
 * the public prefix, so the word at the cut is removed entirely.
 */

const border = /[\s"'`,;{}()<>[\]]/;
/** Only key files are longer, and those have lines. */
const longestWord = 8192;

/** The first `limit` characters, without a word that continues after them. */
export function startOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = limit;
  while (end > 0 && limit - end < longestWord && !border.test(text[end - 1] ?? ' ')) end--;
  return text.slice(0, end);
}
