/** Layout of the text report's sections: headings, lists, key-value lines, wrapped sentences. Independent of the account. */
import type { Palette } from '../palette.ts';

export interface Page {
  palette: Palette;
  /** Columns; at least 20 are used. */
  columns: number;
}

/** A heading above lines that are indented by two; empty if there are no lines. */
export function section(page: Page, heading: string, lines: readonly string[]): string[] {
  if (!lines.length) return [];
  return ['', page.palette.strong(heading), ...lines.map((line) => (line ? `  ${line}` : ''))];
}

/** Wraps one sentence; the first line begins with `mark`, and the others are indented by its width. */
export function wrap(text: string, columns: number, mark = ''): string[] {
  const width = Math.max(20, columns) - mark.length;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  if (line || !lines.length) lines.push(line);
  return lines.map((text, index) => `${index === 0 ? mark : ' '.repeat(mark.length)}${text}`);
}

/** `key   value` lines with aligned values; rows without a value are left out. */
export function keyValues(page: Page, rows: readonly (readonly [string, string | undefined])[]): string[] {
  const shown = rows.filter((row): row is readonly [string, string] => Boolean(row[1]));
  const width = Math.max(0, ...shown.map(([key]) => key.length));
  return shown.map(([key, value]) => `${page.palette.faint(key.padEnd(width))}  ${value}`);
}

/** Text on one line, with line breaks escaped, and tabs replaced by spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\n\t]/g, (c) => (c === '\n' ? '\\n' : ' '));
}
