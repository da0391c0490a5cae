/** The tokens of a query: quoted texts, numbers with units, property paths, operators, and words. */
import { type Step, wrongQuery } from './syntax.ts';

export type Token = { at: number; end: number } & (
  | { kind: 'text'; text: string }
  | { kind: 'number'; value: number; text: string }
  | { kind: 'path'; steps: Step[]; text: string }
  | { kind: 'sign' | 'word'; text: string }
);

/** Powers of 1024. */
const units: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
};
const quoted = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
const quotedPattern = new RegExp(quoted, 'suy');
const numberPattern = /(\d+(?:\.\d+)?)(e[+-]?\d+(?![a-z\d]))?([a-z]*)(?![^\s=<>!~(),"'+*/%-])/iuy;
const signPattern = /!=|!~|<>|<=|>=|==|[=<>~(),+*/%-]/uy;
const wordPattern = /[^\s=<>!~(),"'+*/%[\].-][^\s=<>!~(),"'+*/%[\]]*/uy;
const namePattern = /\.([\p{ID_Continue}$#](?:[\p{ID_Continue}$#]|-(?=\p{L}))*)/uy;
const bracketPattern = new RegExp(`\\[\\s*(?:(${quoted})|(\\d{1,9})|Symbol\\(([^\\]]*)\\))\\s*\\]`, 'suy');
/** As it would be written in code; the value of an entry, by its key. */
const entryPattern = new RegExp(`\\.get\\(\\s*(${quoted})\\s*\\)`, 'suy');
const maxLength = 10_000;

/**
 * @param alias the name that `from Class alias` gives the nodes: `alias.x` is the property `.x`.
 * @throws AgentdumpError `usage` for an invalid token.
 */
export function tokenize(text: string, alias?: string): Token[] {
  if (text.length > maxLength) throw wrongQuery(text.slice(0, 40), 0, 'something shorter');
  const tokens: Token[] = [];
  const spaces = /\s*/uy;
  for (let at = 0; ; at = tokens.at(-1)!.end) {
    spaces.lastIndex = at;
    at += spaces.exec(text)![0].length;
    if (at >= text.length) return tokens;
    tokens.push(readToken(text, at, alias));
  }
}

function readToken(text: string, at: number, alias: string | undefined): Token {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const spoken = match(quotedPattern);
  if (spoken) return { kind: 'text', text: unquote(spoken[0]), at, end: at + spoken[0].length };
  const number = match(numberPattern);
  const unit = number ? units[number[3]!.toLowerCase()] : undefined;
  if (number && unit !== undefined)
    return {
      kind: 'number',
      value: Number(number[1]! + (number[2] ?? '')) * unit,
      text: number[0],
      at,
      end: at + number[0].length,
    };
  if (text[at] === '.' || text[at] === '[') return readPath(text, at, at);
  if (alias && text.startsWith(alias, at) && /[.[]/.test(text[at + alias.length] ?? ''))
    return readPath(text, at, at + alias.length);
  const sign = match(signPattern);
  if (sign) return { kind: 'sign', text: sign[0], at, end: at + sign[0].length };
  const word = match(wordPattern);
  if (word) return { kind: 'word', text: word[0], at, end: at + word[0].length };
  throw wrongQuery(text, at, 'a word, a number or a quoted text');
}

function readPath(text: string, from: number, begin: number): Token {
  const steps: Step[] = [];
  let at = begin;
  for (;;) {
    namePattern.lastIndex = entryPattern.lastIndex = at;
    const entry = entryPattern.exec(text);
    if (entry) {
      steps.push({ kind: 'key', name: unquote(entry[1]!) });
      at = entryPattern.lastIndex;
      continue;
    }
    bracketPattern.lastIndex = text[at] === '.' && text[at + 1] === '[' ? at + 1 : at;
    const name = namePattern.exec(text);
    const bracket = name ? null : bracketPattern.exec(text);
    if (!name && !bracket) break;
    steps.push(name ? { kind: 'name', name: name[1]! } : bracketStep(bracket!));
    at = name ? namePattern.lastIndex : bracketPattern.lastIndex;
  }
  if (text.startsWith('.@', at))
    throw wrongQuery(text, at, `a property or, without @ and s, a field (retained, not s.@retainedHeapSize)`);
  if (steps.length && text[at] === '(')
    throw wrongQuery(
      text,
      at,
      'no call, since a snapshot has no methods (.size, .get("key"), length(.name)),',
    );
  if (!steps.length || text[at] === '.' || text[at] === '[')
    throw wrongQuery(text, at, 'a property (.name, ["name"], [0] or [Symbol(name)])');
  return { kind: 'path', steps, text: text.slice(from, at), at: from, end: at };
}

function bracketStep([, key, index, symbol]: RegExpExecArray): Step {
  if (key !== undefined) return { kind: 'key', name: unquote(key) };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  return { kind: 'symbol', name: symbol!.trim() };
}

/** Any other backslash stays: a pattern is written as everywhere, `~ "\d+"`. */
const unquote = (text: string): string => text.slice(1, -1).replace(/\\(["'\\])/gsu, '$1');
