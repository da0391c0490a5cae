/**
 * Text from a bundle in GitHub-flavoured Markdown. In running text every character that could create markup, a link, a
 * mention or HTML is escaped. Values are otherwise put into code spans and fences that are longer than any run of back-ticks
 * within, because nothing is interpreted there.
 */

/**
 * One line of running text. Marks that are only special at the start of a line are only escaped there, so that the raw text
 * is readable.
 */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/\s+/g, ' ')
      .replace(/&(?=#?\w+;)|[\\`*[\]~$|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
      // Not escaped with a backslash, because a consumer that interprets the page as HTML must not see a tag either.
      .replace(/</g, '&lt;')
      .replace(/@/g, '&#64;')
      .replace(/:(?=\/\/)/g, '&#58;')
      .replace(/\b(www)\./gi, '$1&#46;')
      .replace(/(^|\s)#(?=\d)/g, '$1&#35;')
      .replace(/^ ?([#+=>-])/, '\\$1')
      .replace(/^ ?(\d+)([.)])/, '$1\\$2')
  );
}

/** A code span on one line; also safe in a table cell. */
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
