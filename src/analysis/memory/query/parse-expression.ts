/**
 * Conditions and values, by precedence: or; and; not; a comparison; + and -; * / and %. What a comparison can never answer
 * (a size with a text) is refused here, since an empty answer would look like one.
 */
import { readPattern } from './patterns.ts';
import {
  type AggregateName,
  aggregateNames,
  type ComparisonSign,
  type Expression,
  type ExpressionOf,
  type ExpressionType,
  type FunctionName,
  fieldTypes,
  functionNames,
  type PatternStyle,
  type QueryField,
  queryFields,
  type RelationName,
  relationNames,
  type Target,
  wrongQuery,
} from './syntax.ts';
import type { Token } from './tokens.ts';

const maxDepth = 64;
const clauses = ['select', 'from', 'where', 'group', 'having', 'sort', 'order', 'limit'];
const joiners = [
  'and',
  'or',
  'not',
  'in',
  'is',
  'between',
  'like',
  'ilike',
  'glob',
  'as',
  'asc',
  'desc',
  'by',
];
const reserved: ReadonlySet<string> = new Set([...clauses, ...joiners, 'has', 'distinct']);
const constants: Record<string, boolean | null> = { true: true, false: false, null: null, undefined: null };
const literalWanted = 'a quoted text';

export class ExpressionParser {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #row = 0;
  #depth = 0;
  #mayBeAlias = false;

  constructor(tokens: readonly Token[], text: string) {
    this.#tokens = tokens;
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.#row >= this.#tokens.length;
  }

  /** Where the next word stands. */
  get at(): number {
    return this.#tokens[this.#row]?.at ?? this.text.length;
  }

  get #end(): number {
    return this.#tokens[this.#row - 1]?.end ?? 0;
  }

  isClause(): boolean {
    return this.#isWord(...clauses);
  }

  condition(mayBeAlias = false): Expression {
    return this.#withAliases(mayBeAlias, () => this.#require('condition', () => this.#or()));
  }

  value(): Expression {
    return this.#require('value', () => this.#sum());
  }

  valueOrAlias(): Expression {
    return this.#withAliases(true, () => this.value());
  }

  #withAliases<Result>(mayBeAlias: boolean, read: () => Result): Result {
    this.#mayBeAlias = mayBeAlias;
    try {
      return read();
    } finally {
      this.#mayBeAlias = false;
    }
  }

  #require(wanted: 'condition' | 'value', read: () => Expression): Expression {
    const expression = read();
    if ((expression.type === 'condition') === (wanted === 'condition')) return expression;
    throw wanted === 'condition'
      ? this.wrong(`= != < <= > >= ~ or another comparison`)
      : wrongQuery(this.text, expression.at, 'a value, no condition,');
  }

  #or(): Expression {
    return this.#joined('or', () => this.#joined('and', () => this.#not()));
  }

  #joined(kind: 'and' | 'or', read: () => Expression): Expression {
    const { at } = this;
    const first = read();
    if (!this.#isWord(kind)) return first;
    this.#checkCondition(first);
    const parts = [first];
    while (this.take(kind)) parts.push(this.#require('condition', read));
    return { kind, type: 'condition', parts, at, end: this.#end };
  }

  #checkCondition(expression: Expression): void {
    if (expression.type !== 'condition') throw this.wrong('= != < <= > >= ~ or another comparison');
  }

  #not(): Expression {
    const { at } = this;
    if (!this.take('not')) return this.#comparison();
    return this.#nested(() =>
      this.#negated(
        this.#require('condition', () => this.#not()),
        at,
      ),
    );
  }

  #nested<Result>(read: () => Result): Result {
    if (++this.#depth > maxDepth) throw this.wrong('fewer brackets');
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  #negated(part: Expression, at: number): Expression {
    return { kind: 'not', type: 'condition', part, at, end: this.#end };
  }

  #comparison(): Expression {
    const { at } = this;
    if (this.take('has')) return this.#has(at);
    const relation = this.#relation();
    if (relation)
      return { kind: 'relation', type: 'condition', relation, target: this.#target(), at, end: this.#end };
    const left = this.#sum();
    if (left.type === 'condition') return left;
    const sign = this.#sign('!=', '!~', '<>', '<=', '>=', '==', '=', '<', '>', '~');
    if (sign === '~' || sign === '!~') return this.#pattern(left, 'regexp', sign === '!~');
    if (sign) {
      this.#refuseNull(left, at);
      const known = sign === '==' ? '=' : sign === '<>' ? '!=' : (sign as ComparisonSign);
      const right = this.#comparable(left, known);
      return { kind: 'compare', type: 'condition', sign: known, left, right, at, end: this.#end };
    }
    return this.#wordComparison(left);
  }

  #wordComparison(value: Expression): Expression {
    const { at } = value;
    if (this.take('is')) {
      const isNot = this.take('not');
      if (!this.take('null') && !this.take('missing')) throw this.wrong('null');
      const missing: Expression = { kind: 'missing', type: 'condition', value, at, end: this.#end };
      return isNot ? this.#negated(missing, at) : missing;
    }
    const isNot = this.#isWord('not') && this.take('not');
    for (const style of ['like', 'ilike', 'glob'] as const)
      if (this.take(style)) return this.#pattern(value, style, isNot);
    let found: Expression | undefined;
    if (this.take('in')) {
      this.requireSign('(');
      const list = this.list(() => this.#comparable(value, '=', true));
      this.requireSign(')');
      found = { kind: 'in', type: 'condition', value, list, at, end: this.#end };
    } else if (this.take('between')) {
      const low = this.#comparable(value, '<');
      this.require('and');
      const high = this.#comparable(value, '<');
      found = { kind: 'between', type: 'condition', value, low, high, at, end: this.#end };
    }
    if (!found && isNot) throw this.wrong('in, between, like, ilike or glob');
    return found && isNot ? this.#negated(found, at) : (found ?? value);
  }

  /** The right side: a plain word is a text there, unless it is a field's name. */
  #comparable(left: Expression, sign: ComparisonSign, mayBeMissing = false): Expression {
    const { at } = this;
    const right = this.#sum(true);
    if (!mayBeMissing) this.#refuseNull(right, at);
    const asText = this.#asText(left, right, sign);
    if (asText) return asText;
    if (left.type === 'number' && right.type === 'text')
      throw wrongQuery(
        this.text,
        at,
        `a number, perhaps with a unit (${this.text.slice(left.at, left.end)} > 1.5MB),`,
      );
    if (left.type === 'text' && right.type === 'number') throw wrongQuery(this.text, at, literalWanted);
    if (right.type === 'condition') throw wrongQuery(this.text, at, 'a value, no condition,');
    return right;
  }

  #refuseNull(side: Expression, at: number): void {
    if (side.kind === 'literal' && side.value === null)
      throw wrongQuery(this.text, at, 'a value (nothing is equal to null: `is null` asks for it)');
  }

  /** `name = 42` means the text: of texts there is nothing else that could be meant. */
  #asText(left: Expression, right: Expression, sign: ComparisonSign): Expression | undefined {
    const isPlain = right.kind === 'literal' && typeof right.value === 'number' && left.type === 'text';
    if (!isPlain || (sign !== '=' && sign !== '!=')) return undefined;
    return { ...right, type: 'text', value: this.text.slice(right.at, right.end) };
  }

  #pattern(value: Expression, style: PatternStyle, isNot: boolean): Expression {
    const { at } = this;
    const token = this.#tokens[this.#row];
    if (!token || token.kind === 'sign' || token.kind === 'path') throw this.wrong(literalWanted);
    this.#row++;
    const pattern = readPattern(token.text, style);
    if (!pattern) throw wrongQuery(this.text, at, 'a regular expression');
    const found: Expression = {
      kind: 'pattern',
      type: 'condition',
      value,
      pattern,
      at: value.at,
      end: this.#end,
    };
    return isNot ? this.#negated(found, value.at) : found;
  }

  #has(at: number): Expression {
    const token = this.#tokens[this.#row];
    if (!token || token.kind === 'sign') throw this.wrong('a property');
    this.#row++;
    const steps = token.kind === 'path' ? token.steps : [{ kind: 'name' as const, name: token.text }];
    return { kind: 'has', type: 'condition', steps, at, end: token.end };
  }

  #relation(): RelationName | undefined {
    for (const name of relationNames) {
      const words = name.split(' ');
      const isHere = words.every((word, row) => {
        const token = this.#tokens[this.#row + row];
        return token?.kind === 'word' && token.text.toLowerCase() === word;
      });
      if (!isHere) continue;
      this.#row += words.length;
      return name;
    }
    return undefined;
  }

  #target(): Target {
    const token = this.#tokens[this.#row];
    if (token?.kind === 'word' && /^(@\d+|root)$/.test(token.text)) {
      this.#row++;
      return { kind: 'node', words: token.text };
    }
    if (!this.takeSign('(')) return { kind: 'where', condition: this.classCondition() };
    const condition = this.#nested(() => this.#require('condition', () => this.#or()));
    this.requireSign(')');
    return { kind: 'where', condition };
  }

  /** A class by its name alone. */
  classCondition(): Expression {
    const { at } = this;
    const name = this.word('a class, @id or ( and a condition');
    const end = this.#end;
    const left: Expression = { kind: 'field', field: 'class', type: 'text', at, end };
    const right: Expression = { kind: 'literal', value: name, type: 'text', at, end };
    return { kind: 'compare', type: 'condition', sign: '=', left, right, at, end };
  }

  #sum(isRight = false): Expression {
    return this.#arithmetic(['+', '-'], () =>
      this.#arithmetic(['*', '/', '%'], () => this.#primary(isRight)),
    );
  }

  #arithmetic(signs: readonly string[], read: () => Expression): Expression {
    let left = read();
    for (;;) {
      const sign = this.#sign(...signs) as ExpressionOf<'arithmetic'>['sign'] | undefined;
      if (!sign) return left;
      this.#requireNumber(left);
      const right = read();
      this.#requireNumber(right);
      left = { kind: 'arithmetic', type: 'number', sign, left, right, at: left.at, end: this.#end };
    }
  }

  #requireNumber({ type, at }: Expression): void {
    if (type === 'text' || type === 'condition') throw wrongQuery(this.text, at, 'a number');
  }

  #primary(isRight: boolean): Expression {
    const token = this.#tokens[this.#row];
    const { at } = this;
    if (token?.kind === 'sign' && token.text === '-') {
      this.#row++;
      const right = this.#nested(() => this.#primary(isRight));
      this.#requireNumber(right);
      if (right.kind === 'literal' && typeof right.value === 'number')
        return { ...right, value: -right.value, at };
      const zero: Expression = { kind: 'literal', type: 'number', value: 0, at, end: at };
      return { kind: 'arithmetic', type: 'number', sign: '-', left: zero, right, at, end: this.#end };
    }
    if (this.takeSign('(')) {
      const inside = this.#nested(() => this.#or());
      this.requireSign(')');
      return { ...inside, at, end: this.#end };
    }
    if (!token || token.kind === 'sign')
      throw this.wrong(isRight ? 'a value' : 'a field, .property, has, not or (');
    this.#row++;
    const place = { at, end: token.end };
    if (token.kind === 'number') return { kind: 'literal', type: 'number', value: token.value, ...place };
    if (token.kind === 'text') return { kind: 'literal', type: 'text', value: token.text, ...place };
    if (token.kind === 'path') return { kind: 'property', type: 'any', steps: token.steps, ...place };
    return this.#named(token.text, place, isRight);
  }

  #named(word: string, place: { at: number; end: number }, isRight: boolean): Expression {
    const lower = word.toLowerCase();
    const next = this.#tokens[this.#row];
    if (next?.kind === 'sign' && next.text === '(' && next.at === place.end)
      return this.#call(lower, place.at);
    if (/^@\d{1,10}$/.test(word))
      return { kind: 'literal', type: 'number', value: Number(word.slice(1)), ...place };
    if (Object.hasOwn(constants, lower))
      return { kind: 'literal', type: 'any', value: constants[lower]!, ...place };
    if (Object.hasOwn(fieldTypes, lower)) {
      const field = lower as QueryField;
      return { kind: 'field', field, type: fieldTypes[field], ...place };
    }
    // After a sign only a value can follow: a class may be called Order.
    if (isRight) return { kind: 'literal', type: 'text', value: word, ...place };
    if (this.#mayBeAlias && !reserved.has(lower)) return { kind: 'alias', type: 'any', name: word, ...place };
    throw wrongQuery(this.text, place.at, `one of ${queryFields.join(', ')}, or .property,`);
  }

  #call(name: string, at: number): Expression {
    this.requireSign('(');
    if ((aggregateNames as readonly string[]).includes(name))
      return this.#aggregate(name as AggregateName, at);
    const argument = this.#nested(() => this.value());
    this.requireSign(')');
    const end = this.#end;
    if ((functionNames as readonly string[]).includes(name))
      return {
        kind: 'call',
        type: name === 'length' ? 'number' : 'text',
        name: name as FunctionName,
        argument,
        at,
        end,
      };
    if (!Object.hasOwn(fieldTypes, name))
      throw wrongQuery(
        this.text,
        at,
        `a function (${[...aggregateNames, ...functionNames].join(', ')}, or a field of what a property holds)`,
      );
    if (argument.kind !== 'property') throw wrongQuery(this.text, argument.at, `a property (${name}(.name))`);
    const field = name as QueryField;
    return { kind: 'field', field, of: argument, type: fieldTypes[field], at, end };
  }

  #aggregate(name: AggregateName, at: number): Expression {
    const isDistinct = this.take('distinct');
    const isAll = name === 'count' && !isDistinct && (this.takeSign('*') || this.#isSign(')'));
    const argument = isAll ? undefined : this.#nested(() => this.value());
    if (argument && (name === 'sum' || name === 'avg')) this.#requireNumber(argument);
    this.requireSign(')');
    const type: ExpressionType = name === 'min' || name === 'max' ? (argument?.type ?? 'any') : 'number';
    return { kind: 'aggregate', type, name, argument, isDistinct, at, end: this.#end };
  }

  count(): number {
    const { at } = this;
    const token = this.#tokens[this.#row];
    if (token?.kind !== 'number' || !Number.isInteger(token.value))
      throw wrongQuery(this.text, at, 'a number');
    this.#row++;
    return token.value;
  }

  list<Item>(read: () => Item): Item[] {
    const items = [read()];
    while (this.takeSign(',')) items.push(read());
    return items;
  }

  word(wanted: string): string {
    const token = this.#tokens[this.#row];
    if (token?.kind !== 'word' && token?.kind !== 'text') throw this.wrong(wanted);
    this.#row++;
    return token.text;
  }

  #isWord(...words: string[]): boolean {
    const token = this.#tokens[this.#row];
    return token?.kind === 'word' && words.includes(token.text.toLowerCase());
  }

  take(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#row++;
    return true;
  }

  require(word: string): void {
    if (!this.take(word)) throw this.wrong(word);
  }

  #isSign(sign: string): boolean {
    const token = this.#tokens[this.#row];
    return token?.kind === 'sign' && token.text === sign;
  }

  #sign(...signs: string[]): string | undefined {
    const sign = signs.find((known) => this.#isSign(known));
    if (sign) this.#row++;
    return sign;
  }

  takeSign(sign: string): boolean {
    return this.#sign(sign) !== undefined;
  }

  requireSign(sign: string): void {
    if (!this.takeSign(sign)) throw this.wrong(sign);
  }

  wrong(wanted: string): Error {
    return wrongQuery(this.text, this.at, wanted);
  }
}
