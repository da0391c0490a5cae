/** `INSERT INTO users (name, password) VALUES ('bob', 'x')`: the column names are the context of the values. */
import type { NameBook } from '../names/name-book.ts';
import type { Finding, Page } from '../scan/page.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { readQuoted } from '../values/value-span.ts';
import { isSecretValue, looksChosen } from '../values/values.ts';

const columnsBefore = /\(([^()]{3,600})\)\s{0,8}$/;
const row = /\s{0,8}\(/y;
const item = /\s*(?:'((?:[^'\\]|''|\\.){0,8000})'|"([^"\\]{0,8000})"|[^,()'"]{0,80})\s*(,|\))/y;
const asTyped = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };

const intoTable = /\binto\s+(?:[\w"`[\]]{1,60}\.)?["`[]?(\w{3,60})["`\]]?\s{1,4}$/i;

/** `INSERT INTO api_tokens VALUES (3, 'x')`: the table's name is the only context, so the value must be random. */
function findUnnamed(page: Page, names: NameBook, start: number): Finding[] {
  const { text } = page;
  const table = intoTable.exec(text.slice(Math.max(0, start - 140), start))?.[1];
  if (table === undefined || names.judge(table).strength < 1) return [];
  const found: Finding[] = [];
  let at = row.lastIndex;
  for (let items = 0; items < 40; items++) {
    item.lastIndex = at;
    const match = item.exec(text);
    const value = match?.[1] ?? match?.[2];
    if (!match) break;
    if (value !== undefined && looksRandom(value, 20) && looksChosen(value)) {
      const from = at + match[0].indexOf(value);
      found.push({ start: from, end: from + value.length, rule: 'table-column' });
    }
    at = item.lastIndex;
    if (match[3] === ')') break;
  }
  return found;
}

/** There is a `VALUES` at [start, end). Reads the first row. */
export function findInserted(page: Page, names: NameBook, start: number, end: number): Finding[] {
  const { text } = page;
  row.lastIndex = end;
  if (!row.test(text)) return [];
  const columns = columnsBefore.exec(text.slice(Math.max(0, start - 620), start))?.[1]?.split(',');
  if (!columns) return findUnnamed(page, names, start);
  if (columns.length > 100) return [];
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

/** `parameters: $1 = 'bob', $2 = 'x'`, as PostgreSQL logs them. */
const numbered = /:?[ ](?=\$1 = )/y;
const numberedItem = /\$(\d{1,3}) = (?:'((?:[^']|''){0,8000})'|[^,']{1,80})(?:, )?/y;

const listOpens = /["'\]]{0,2}\s?[:=]?\s?[[({]/y;
/** `"method": "login", "params": ["bob", "x"]`: a call over JSON-RPC. */
const callsLogin =
  /"method\\*"\s?:\s?\\*"[\w.:/-]{0,30}(?:login|log_in|signin|sign_in|authenticate)\\*"[^{}]{0,60}$/i;

/** The second string of the list that opens before `at`. */
function findSecondItem(page: Page, at: number): Finding[] {
  const user = readQuoted(page, at);
  if (!user) return [];
  let next = user.close;
  while (page.units[next] === 44 || page.units[next] === 32) next += 1;
  const span = next > user.close ? readQuoted(page, next) : undefined;
  const value = span ? page.text.slice(span.start, Math.min(span.end, span.start + 400)) : '';
  if (!span || value.length < 4 || isStandIn(value)) return [];
  return [{ start: span.start, end: span.end, rule: 'bound-value' }];
}

const namesCredential = /(?:pass(?:word|wd|phrase)|secret|token|credential|api_?key)/i;
/** Words before a list of values bound to a statement's parameters. */
export const boundWords = 'bind bindings binds parameters params args';

/** The positions of the bound values whose columns in the surrounding statement are credentials. */
function boundPlaces(statement: string, names: NameBook): Set<number> {
  const places = new Set<number>();
  const isTelling = (name: string): boolean => names.judge(name.replace(/[^\w.-]/g, '')).strength >= 2;
  const columns =
    /\(([^()]{3,600})\)\s{0,8}values\b|\binto\s[\w."`]{1,60}\s?\(([^()]{3,600})\)/i
      .exec(statement)
      ?.slice(1)
      .find((list) => list !== undefined)
      ?.split(',') ?? [];
  for (const [index, column] of columns.entries()) if (isTelling(column)) places.add(index);
  for (const [, name = '', number] of statement.matchAll(/([\w.]{2,40})["`\]]?\s{0,4}=\s{0,4}\$(\d{1,2})/g))
    if (isTelling(name)) places.add(Number(number) - 1);
  for (const [index, [, name = '']] of [
    ...statement.matchAll(/([\w.]{2,40})["`\]]?\s{0,4}=\s{0,4}\?/g),
  ].entries())
    if (isTelling(name)) places.add(index);
  return places;
}

/** Those of the statement in the line before, which ends with a word at `start`. */
function findNumbered({ text }: Page, names: NameBook, start: number, from: number): Finding[] {
  const places = boundPlaces(text.slice(Math.max(0, start - 800), start), names);
  const found: Finding[] = [];
  if (places.size === 0) return found;
  // A copy: between two matches a debugger may redact another text.
  const items = new RegExp(numberedItem);
  items.lastIndex = from;
  for (let match = items.exec(text); match; match = items.exec(text)) {
    const [, number, value = ''] = match;
    const at = match.index + match[0].indexOf("'") + 1;
    if (places.has(Number(number) - 1) && value.length >= 4 && !isStandIn(value))
      found.push({ start: at, end: at + value.length, rule: 'bound-value' });
  }
  return found;
}

/**
 * `… SET password = $1 … PARAMETERS: ["x"]`: the statement names a credential, so a value in its list that looks like one is
 * withheld.
 */
export function findBound(page: Page, names: NameBook, start: number, end: number): Finding[] {
  const { text } = page;
  numbered.lastIndex = end;
  if (numbered.test(text)) return findNumbered(page, names, start, numbered.lastIndex);
  listOpens.lastIndex = end;
  if (!listOpens.test(text)) return [];
  if (callsLogin.test(text.slice(Math.max(0, start - 120), start)))
    return findSecondItem(page, listOpens.lastIndex);
  const around = [text.slice(Math.max(0, start - 400), start), text.slice(end, end + 600)];
  const statement = around.find(
    (piece) => namesCredential.test(piece) && /\b(?:insert|update|select|values|where|set)\b/i.test(piece),
  );
  if (statement === undefined) return [];
  const places = boundPlaces(statement, names);
  const found: Finding[] = [];
  let at = listOpens.lastIndex;
  for (let items = 0; items < 40; items++) {
    while (page.units[at] === 44 || page.units[at] === 32) at += 1;
    const span = readQuoted(page, at);
    const value = span ? text.slice(span.start, Math.min(span.end, span.start + 400)) : '';
    const isOwn = places.has(items) && value.length >= 4 && !isStandIn(value);
    const looksLike = looksChosen(value) && (looksRandom(value, 12) || /[!#$%^&*~+?_]/.test(value));
    if (span && (isOwn || looksLike)) found.push({ start: span.start, end: span.end, rule: 'bound-value' });
    const next = /[^,"'\n\])}]{0,80},/y;
    next.lastIndex = span?.close ?? at;
    if (!next.test(text)) break;
    at = next.lastIndex;
  }
  return found;
}
