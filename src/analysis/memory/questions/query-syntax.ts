/**
 * The query language of `heap query`: text to a syntax tree. The grammar is in README.md beside this file.
 */
import { AgentdumpError } from '../../../errors.ts';

export const queryFields = [
  'id',
  'name',
  'type',
  'class',
  'self',
  'retained',
  'distance',
  'edges',
  'dominator',
] as const;
export type QueryField = (typeof queryFields)[number];
const textFields: ReadonlySet<QueryField> = new Set(['name', 'type', 'class']);
export type QueryOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '~' | '!~';

export type Condition =
  | { kind: 'all'; parts: Condition[] }
  | { kind: 'any'; parts: Condition[] }
  | { kind: 'not'; part: Condition }
  | { kind: 'field'; field: QueryField; operator: QueryOperator; value: string | number }
  | { kind: 'property'; name: string; operator: QueryOperator; value: string | number }
  | { kind: 'has'; name: string };

export interface Query {
  where: Condition;
  sort: QueryField;
  descending: boolean;
  limit: number | undefined;
  select: QueryField[] | undefined;
}

const units: Record<string, number> = {
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
const tokenPattern =
  /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(!=|!~|<=|>=|[=<>~(),])|([^\s=<>!~(),"']+))/y;
const maxDepth = 64;
const maxLength = 10_000;

interface Token {
  text: string;
  kind: 'text' | 'sign' | 'word';
  at: number;
}

/** @throws AgentdumpError `usage` that says where the text stops being a query. */
export function parseQuery(text: string): Query {
  return new Parser(tokenize(text), text).query();
}

function tokenize(text: string): Token[] {
  if (text.length > maxLength) throw wrong(text.slice(0, 40), 0, 'something shorter');
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let at = 0; text.slice(at).trim(); at = tokenPattern.lastIndex) {
    const match = tokenPattern.exec(text);
    if (!match) throw wrong(text, at, 'a word, a number or a quoted text');
    const [, quoted, sign, word] = match;
    if (quoted !== undefined) tokens.push({ text: unquote(quoted), kind: 'text', at });
    else tokens.push({ text: sign ?? word ?? '', kind: sign === undefined ? 'word' : 'sign', at });
  }
  return tokens;
}

const unquote = (quoted: string): string => quoted.slice(1, -1).replace(/\\(.)/g, '$1');

class Parser {
  readonly #tokens: Token[];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(tokens: Token[], text: string) {
    this.#tokens = tokens;
    this.#text = text;
  }

  query(): Query {
    const query: Query = {
      where: { kind: 'all', parts: [] },
      sort: 'retained',
      descending: true,
      limit: undefined,
      select: undefined,
    };
    if (this.#tokens.length && !this.#isWord('sort', 'limit', 'select')) query.where = this.#any();
    while (this.#at < this.#tokens.length) this.#clause(query);
    return query;
  }

  #clause(query: Query): void {
    if (this.#take('sort')) {
      this.#take('by');
      query.sort = this.#field();
      query.descending = !this.#take('asc');
      if (query.descending) this.#take('desc');
    } else if (this.#take('limit')) query.limit = this.#count();
    else if (this.#take('select')) {
      query.select = [this.#field()];
      while (this.#takeSign(',')) query.select.push(this.#field());
    } else throw this.#wrong('and, or, sort by, limit or select');
  }

  #any(): Condition {
    const parts = [this.#all()];
    while (this.#take('or')) parts.push(this.#all());
    return parts.length === 1 ? parts[0]! : { kind: 'any', parts };
  }

  #all(): Condition {
    const parts = [this.#one()];
    while (this.#take('and')) parts.push(this.#one());
    return parts.length === 1 ? parts[0]! : { kind: 'all', parts };
  }

  #one(): Condition {
    if (++this.#depth > maxDepth) throw this.#wrong('fewer brackets');
    try {
      if (this.#take('not')) return { kind: 'not', part: this.#one() };
      if (!this.#takeSign('(')) return this.#comparison();
      const inside = this.#any();
      if (!this.#takeSign(')')) throw this.#wrong(')');
      return inside;
    } finally {
      this.#depth--;
    }
  }

  #comparison(): Condition {
    if (this.#take('has')) return { kind: 'has', name: this.#word('a property') };
    const name = this.#word('a field, .property, has, not or (');
    if (!name.startsWith('.')) return this.#fieldComparison(this.#asField(name));
    return { kind: 'property', name: name.slice(1), operator: this.#operator(), value: this.#value() };
  }

  #fieldComparison(field: QueryField): Condition {
    const operator = this.#operator();
    const value = this.#value();
    // No number is equal to, above or below a text: the answer would be empty, and look like one.
    if (typeof value === 'string' && !textFields.has(field) && !operator.endsWith('~'))
      throw this.#wrong(`a number, perhaps with a unit (${field} > 1.5MB),`, -1);
    return { kind: 'field', field, operator, value };
  }

  #operator(): QueryOperator {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || /[(),]/.test(token.text)) throw this.#wrong('= != < <= > >= ~ or !~');
    this.#at++;
    return token.text as QueryOperator;
  }

  #value(): string | number {
    const isQuoted = this.#tokens[this.#at]?.kind === 'text';
    const text = this.#word('a value');
    const match = isQuoted ? null : /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(text);
    const unit = match ? (match[2] === '' ? 1 : units[match[2]!.toLowerCase()]) : undefined;
    return match && unit !== undefined ? Number(match[1]) * unit : text;
  }

  #count(): number {
    const value = this.#value();
    if (typeof value !== 'number' || !Number.isInteger(value)) throw this.#wrong('a number', -1);
    return value;
  }

  #field(): QueryField {
    return this.#asField(this.#word('a field'));
  }

  #asField(name: string): QueryField {
    const field = queryFields.find((known) => known === name.toLowerCase());
    if (!field) throw this.#wrong(`one of ${queryFields.join(', ')}`, -1);
    return field;
  }

  #word(wanted: string): string {
    const token = this.#tokens[this.#at];
    if (!token || token.kind === 'sign') throw this.#wrong(wanted);
    this.#at++;
    return token.text;
  }

  #isWord(...words: string[]): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'word' && words.includes(token.text.toLowerCase());
  }

  #take(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#at++;
    return true;
  }

  #takeSign(sign: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.#at++;
    return true;
  }

  #wrong(wanted: string, offset = 0): AgentdumpError {
    return wrong(this.#text, this.#tokens[this.#at + offset]?.at ?? this.#text.length, wanted);
  }
}

function wrong(text: string, at: number, wanted: string): AgentdumpError {
  const rest = text.slice(at).trim();
  const where = rest ? `before ${JSON.stringify(rest.slice(0, 30))}` : 'at the end';
  return new AgentdumpError('usage', `the query is not understood ${where}: ${wanted} expected`, {
    argument: text,
  });
}
