/** `INSERT INTO users (name, password) VALUES ('bob', 'x')`: the columns' names are the values' context. */
import type { NameBook } from './name-book.ts';
import type { Finding, Page } from './page.ts';
import { isSecretValue } from './values.ts';

const columnsBefore = /\(([^()]{3,600})\)\s{0,8}$/;
const row = /\s{0,8}\(/y;
const item = /\s*(?:'((?:[^'\\]|''|\\.){0,400})'|"([^"\\]{0,400})"|[^,()'"]{0,80})\s*(,|\))/y;
const asTyped = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };

/** The page holds `VALUES` at [start, end). Reads the first row. */
export function findInserted(page: Page, names: NameBook, start: number, end: number): Finding[] {
  const { text } = page;
  const columns = columnsBefore.exec(text.slice(Math.max(0, start - 620), start))?.[1]?.split(',');
  row.lastIndex = end;
  if (!columns || columns.length > 100 || !row.test(text)) return [];
  const found: Finding[] = [];
  let at = row.lastIndex;
  for (const column of columns) {
    item.lastIndex = at;
    const match = item.exec(text);
    if (!match) break;
    const value = match[1] ?? match[2];
    const verdict = names.judge(column.replace(/[^\w.-]/g, ''));
    if (value !== undefined && verdict.strength >= 2 && isSecretValue(value, verdict, asTyped)) {
      const from = at + match[0].indexOf(value);
      found.push({ start: from, end: from + value.length, rule: verdict.rule });
    }
    at = item.lastIndex;
    if (match[3] === ')') break;
  }
  return found;
}
