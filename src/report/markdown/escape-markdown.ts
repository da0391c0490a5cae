/**
 * Text from a bundle in GitHub-flavoured Markdown. In running text every character that could mark up, link, mention
 * or open HTML is escaped; values otherwise stand in code spans and fences that are longer than any run of back-ticks
 * within, because nothing is interpreted there.
 */

/** One line of running text. What marks up at a line's start only is escaped there only: raw text stays readable. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/\s+/g, ' ')
      .replace(/&(?=#?\w+;)|[\\`*[\]~$|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
      // Not by a backslash: what takes the page for HTML must see no tag either.
      .replace(/</g, '&lt;')
      .replace(/@/g, '&#64;')
      .replace(/:(?=\/\/)/g, '&#58;')
      .replace(/\b(www)\./gi, '$1&#46;')
      .replace(/(^|\s)#(?=\d)/g, '$1&#35;')
      .replace(/^ ?([#+=>-])/, '\\$1')
      .replace(/^ ?(\d+)([.)])/, '$1\\$2')
  );
}

/** A code span on one line; safe in a table's cell too. */
export function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (!line) return '';
  const fence = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line.replace(/\|/g, '\\|')}${pad}${fence}`;
}

/** Lines as a fenced block. */
export function codeBlock(lines: readonly string[], language = 'text'): string[] {
  if (!lines.length) return [];
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}${language}`, ...lines, fence];
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
