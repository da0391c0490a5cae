/**
 * Parses values, by precedence: + and -; * / and %; a literal, field, property or function. Arithmetic with texts is
 * rejected.
 */

import {
  type AggregateName,
  aggregateNames,
  type Expression,
  type ExpressionOf,
  type ExpressionType,
  type FunctionName,
  fieldTraits,
  functionNames,
  type QueryField,
  queryFields,
  wrongQuery,
} from './syntax.ts';
import { TokenCursor } from './token-cursor.ts';

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
export const isReserved = (word: string): boolean => reserved.has(word.toLowerCase());
const constants: Record<string, boolean | null> = { true: true, false: false, null: null, undefined: null };

/** What other tools call our fields. */
const synonyms: ReadonlyMap<string, QueryField> = new Map([
  ['self_size', 'self'],
  ['selfsize', 'self'],
  ['shallow', 'self'],
  ['shallow_size', 'self'],
  ['shallowsize', 'self'],
  ['size', 'self'],
  ['usedheapsize', 'self'],
  ['retained_size', 'retained'],
  ['retainedsize', 'retained'],
  ['retainedheapsize', 'retained'],
  ['objectid', 'id'],
  ['objectaddress', 'id'],
  ['node_id', 'id'],
  ['classof', 'class'],
  ['class_name', 'class'],
  ['classname', 'class'],
  ['constructor', 'class'],
  ['type_name', 'class'],
  ['node_name', 'name'],
  ['displayname', 'name'],
  ['depth', 'distance'],
  ['root_distance', 'distance'],
]);

const fieldWanted = (word: string): string => {
  const field = synonyms.get(word.toLowerCase());
  const isName = /^[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Continue}$]+)*$/u.test(word);
  return `one of ${queryFields.join(', ')}${field ? ` (here ${field})` : ''}, or ${isName ? `.${word}, the property,` : '.property,'}`;
};

export abstract class ValueParser extends TokenCursor {
  /** The name that `from Session s` gives to each object. */
  protected rowName: string | undefined;
  #mayBeAlias = false;

  /** Parses the inside of brackets, which may turn out to be a condition or a value. */
  protected abstract inBrackets(): Expression;

  isClause(): boolean {
    return this.isWord(...clauses);
  }

  value(): Expression {
    const expression = this.sum();
    if (expression.type !== 'condition') return expression;
    throw wrongQuery(this.text, expression.at, 'a value, no condition,');
  }

  protected sum(isRight = false): Expression {
    return this.#arithmetic(['+', '-'], () =>
      this.#arithmetic(['*', '/', '%'], () => this.#primary(isRight)),
    );
  }

  #arithmetic(signs: readonly string[], read: () => Expression): Expression {
    let left = read();
    for (;;) {
      const sign = this.sign(...signs) as ExpressionOf<'arithmetic'>['sign'] | undefined;
      if (!sign) return left;
      this.requireNumber(left);
      const right = read();
      this.requireNumber(right);
      left = { kind: 'arithmetic', type: 'number', sign, left, right, at: left.at, end: this.end };
    }
  }

  protected requireNumber({ type, at }: Expression): void {
    if (type === 'text' || type === 'condition') throw wrongQuery(this.text, at, 'a number');
  }

  #primary(isRight: boolean): Expression {
    const token = this.token;
    const { at } = this;
    if (token?.kind === 'sign' && token.text === '-') {
      this.skip();
      const right = this.nested(() => this.#primary(isRight));
      this.requireNumber(right);
      if (right.kind === 'literal' && typeof right.value === 'number')
        return { ...right, value: -right.value, at };
      const zero: Expression = { kind: 'literal', type: 'number', value: 0, at, end: at };
      return { kind: 'arithmetic', type: 'number', sign: '-', left: zero, right, at, end: this.end };
    }
    if (this.takeSign('(')) {
      const inside = this.nested(() => this.inBrackets());
      this.requireSign(')');
      return { ...inside, at, end: this.end };
    }
    if (!token || token.kind === 'sign')
      throw this.wrong(isRight ? 'a value' : 'a field, .property, has, not or (');
    this.skip();
    const place = { at, end: token.end };
    if (token.kind === 'number') return { kind: 'literal', type: 'number', value: token.value, ...place };
    if (token.kind === 'text') return { kind: 'literal', type: 'text', value: token.text, ...place };
    if (token.kind === 'path') return { kind: 'property', type: 'any', steps: token.steps, ...place };
    return this.#named(token.text, place, isRight);
  }

  #named(word: string, place: { at: number; end: number }, isRight: boolean): Expression {
    const lower = word.toLowerCase();
    const next = this.token;
    if (next?.kind === 'sign' && next.text === '(' && next.at === place.end)
      return this.#call(lower, place.at);
    if (/^@\d{1,10}$/.test(word))
      return { kind: 'literal', type: 'number', value: Number(word.slice(1)), ...place };
    if (Object.hasOwn(constants, lower))
      return { kind: 'literal', type: 'any', value: constants[lower]!, ...place };
    if (Object.hasOwn(fieldTraits, lower)) {
      const field = lower as QueryField;
      return { kind: 'field', field, type: fieldTraits[field].type, ...place };
    }
    if (word === this.rowName) return { kind: 'property', type: 'any', steps: [], ...place };
    // After an operator only a value can follow: a class may be called Order.
    if (isRight) return { kind: 'literal', type: 'text', value: word, ...place };
    if (this.#mayBeAlias && !reserved.has(lower)) return { kind: 'alias', type: 'any', name: word, ...place };
    throw wrongQuery(
      this.text,
      place.at,
      this.#isColumn(word)
        ? `a field or .property (not ${word}: the columns of select come after where, so repeat what it stands for)`
        : fieldWanted(word),
    );
  }

  /** Whether select, which may follow, gives a column this name. */
  #isColumn(word: string): boolean {
    const words = this.text.split(/[\s,()]+/);
    return words.some((each, at) => each === word && words[at - 1]?.toLowerCase() === 'as');
  }

  #call(name: string, at: number): Expression {
    this.requireSign('(');
    if ((aggregateNames as readonly string[]).includes(name))
      return this.#aggregate(name as AggregateName, at);
    const argument = this.nested(() => this.value());
    this.requireSign(')');
    const end = this.end;
    if ((functionNames as readonly string[]).includes(name))
      return {
        kind: 'call',
        type: name === 'length' ? 'number' : 'text',
        name: name as FunctionName,
        argument,
        at,
        end,
      };
    if (!Object.hasOwn(fieldTraits, name))
      throw wrongQuery(
        this.text,
        at,
        `a function (${[...aggregateNames, ...functionNames].join(', ')}, or a field of what a property holds)`,
      );
    if (argument.kind !== 'property') throw wrongQuery(this.text, argument.at, `a property (${name}(.name))`);
    const field = name as QueryField;
    return { kind: 'field', field, of: argument, type: fieldTraits[field].type, at, end };
  }

  #aggregate(name: AggregateName, at: number): Expression {
    const isDistinct = this.take('distinct');
    const isAll = name === 'count' && !isDistinct && (this.takeSign('*') || this.isSign(')'));
    const argument = isAll ? undefined : this.nested(() => this.value());
    if (argument && (name === 'sum' || name === 'avg')) this.requireNumber(argument);
    this.requireSign(')');
    const type: ExpressionType = name === 'min' || name === 'max' ? (argument?.type ?? 'any') : 'number';
    return { kind: 'aggregate', type, name, argument, isDistinct, at, end: this.end };
  }

  valueOrAlias(): Expression {
    return this.withAliases(true, () => this.value());
  }

  protected withAliases<Result>(mayBeAlias: boolean, read: () => Result): Result {
    this.#mayBeAlias = mayBeAlias;
    try {
      return read();
    } finally {
      this.#mayBeAlias = false;
    }
  }
}
