/** An error's message as titles and sentences show it: on one line, and shortened so that the rest can be read. Pure. */
import { firstLine } from '../quantities.ts';

/**
 * The first line; with the lines that follow while a quotation is open, and with all lines if the first only opens a list or an
 * object, ends with a colon, or says to run the command below it. A list of issues, which is the message of Zod's errors, as its issues.
 */
export function onOneLine(message: string): string {
  const issues = issuesOf(message);
  if (issues !== undefined) return issues;
  const line = firstLine(message);
  if (/^[[{(]+$|:$/.test(line)) return message.replace(legend, '').trim().replace(/\s+/g, ' ');
  if (/^\s*\$ \S/m.test(message.trim().split('\n')[1] ?? ''))
    return (message.split(/\n\s*Require stack:/)[0] ?? message).trim().replace(/\s+/g, ' ');
  if (openMarks(line).length === 0) return line;
  let joined = '';
  for (const next of message.trim().slice(0, mostQuoted).split('\n')) {
    joined = `${joined} ${next.trim()}`.trim();
    if (openMarks(joined).length === 0) return joined;
  }
  return line;
}

/** A quotation that is longer than this counts as one that nothing closes. */
const mostQuoted = 1000;

/** Of the difference that node:assert shows. */
const legend = /^\+ actual - expected(?: \.\.\. Lines skipped)?$/m;

/** `days: expected number, received string; to: Required`: https://zod.dev/error-customization. */
function issuesOf(message: string): string | undefined {
  if (!/^\s*\[\s*\{[\s\S]*\}\s*\]\s*$/.test(message)) return undefined;
  let list: unknown[];
  try {
    list = JSON.parse(message);
  } catch {
    return undefined;
  }
  const said = list.map(issueText);
  return said.includes(undefined) ? undefined : said.join('; ');
}

/** Undefined if it is no issue: any program may throw a message that is JSON. */
function issueText(issue: unknown): string | undefined {
  if (typeof issue !== 'object' || issue === null) return undefined;
  const { message, path } = issue as { message?: unknown; path?: unknown };
  if (typeof message !== 'string' || !Array.isArray(path)) return undefined;
  if (!path.every((key) => typeof key === 'string' || typeof key === 'number')) return undefined;
  return `${path.length ? `${path.join('.')}: ` : ''}${firstLine(message)}`;
}

/**
 * `text` in at most `max` characters: cut between words, if one ends near, with an ellipsis; quotations and parentheses that the
 * cut leaves open are closed.
 */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  let closing = '';
  let cut = '';
  // What closes needs room itself, and after a shorter cut something else may be open.
  for (let tries = 0; tries < 3; tries++) {
    cut = cutBetweenWords(text, max - 1 - closing.length);
    const needed = openMarks(cut).reverse().join('');
    if (needed.length <= closing.length) return `${cut}…${needed}`;
    closing = needed;
  }
  return `${cut.slice(0, Math.max(max - 1, 0))}…`;
}

/** A word that is longer, such as a path, is cut within. */
const longestWord = 24;

function cutBetweenWords(text: string, room: number): string {
  const cut = text.slice(0, Math.max(room, 0));
  const border = /\s/.test(text[cut.length] ?? ' ') ? cut.length : cut.search(/\s\S*$/);
  const isNear = border > 0 && cut.length - border <= longestWord;
  const kept = isNear ? cut.slice(0, border) : cut;
  return kept.replace(/[\ud800-\udbff]$/, '').replace(/(?:[\s,;:([{]|(?<=[\s([{=:,])["'`“‘])+$/, '');
}

const closers: Record<string, string | undefined> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '‘': '’',
  '(': ')',
};

/** What would close the quotations and parentheses that `text` leaves open. A mark within a word, as in `don't`, opens nothing. */
function openMarks(text: string): string[] {
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const mark = text[at] as string;
    const quotation = open.at(-1);
    if (mark === '\\') at++;
    else if (mark === quotation && (mark === ')' || /^$|[\s\p{P}<>=+|]/u.test(text[at + 1] ?? '')))
      open.pop();
    else if ((quotation === undefined || quotation === ')') && closers[mark] !== undefined)
      if (mark === '(' || /^$|[\s([{=:,<>|/]/.test(text[at - 1] ?? '')) open.push(closers[mark]);
  }
  return open;
}
