/**
 * Parses conditions, by precedence: or; and; not; a comparison of two values. Comparisons that can never be true (a size with
 * a text) are rejected, since their empty result would look like an answer.
 */

import { ValueParser } from './parse-value.ts';
import { readPattern } from './patterns.ts';
import {
  type ComparisonSign,
  type Expression,
  type PatternStyle,
  type RelationName,
  relationNames,
  type Target,
  wrongQuery,
} from './syntax.ts';

const literalWanted = 'a quoted text';
const comparisonWanted = '= != < <= > >= ~ or another comparison';
/** Eclipse MAT's and VisualVM's word for a class with its subclasses. */
const subclasses = 'instanceof';

export class ExpressionParser extends ValueParser {
  condition(mayBeAlias = false): Expression {
    return this.withAliases(mayBeAlias, () => this.#required(() => this.inBrackets()));
  }

  protected override inBrackets(): Expression {
    return this.#joined('or', () => this.#joined('and', () => this.#not()));
  }

  #joined(kind: 'and' | 'or', read: () => Expression): Expression {
    const { at } = this;
    const first = read();
    if (!this.isWord(kind)) return first;
    this.#check(first);
    const parts = [first];
    while (this.take(kind)) parts.push(this.#required(read));
    return { kind, type: 'condition', parts, at, end: this.end };
  }

  #not(): Expression {
    const { at } = this;
    if (!this.take('not')) return this.#comparison();
    return this.nested(() =>
      this.#negated(
        this.#required(() => this.#not()),
        at,
      ),
    );
  }

  #negated(part: Expression, at: number): Expression {
    return { kind: 'not', type: 'condition', part, at, end: this.end };
  }

  #comparison(): Expression {
    const { at } = this;
    if (this.take('has')) return this.#has(at);
    const relation = this.#relation();
    if (relation)
      return { kind: 'relation', type: 'condition', relation, target: this.#target(), at, end: this.end };
    const left = this.sum();
    if (left.type === 'condition') return left;
    const sign = this.sign('!=', '!~', '<>', '<=', '>=', '==', '=', '<', '>', '~');
    if (sign === '~' || sign === '!~') return this.#pattern(left, 'regexp', sign === '!~');
    if (sign) {
      this.#refuseNull(left, at);
      const known = sign === '==' ? '=' : sign === '<>' ? '!=' : (sign as ComparisonSign);
      const right = this.#comparable(left, known);
      return { kind: 'compare', type: 'condition', sign: known, left, right, at, end: this.end };
    }
    return this.#wordComparison(left);
  }

  #wordComparison(value: Expression): Expression {
    const { at } = value;
    if (this.take('is')) {
      const isNot = this.take('not');
      if (!this.take('null') && !this.take('missing')) throw this.wrong('null');
      const missing: Expression = { kind: 'missing', type: 'condition', value, at, end: this.end };
      return isNot ? this.#negated(missing, at) : missing;
    }
    const isNot = this.isWord('not') && this.take('not');
    for (const style of ['like', 'ilike', 'glob'] as const)
      if (this.take(style)) return this.#pattern(value, style, isNot);
    let found: Expression | undefined;
    if (this.take('in')) {
      this.requireSign('(');
      const list = this.list(() => this.#comparable(value, '=', true));
      this.requireSign(')');
      found = { kind: 'in', type: 'condition', value, list, at, end: this.end };
    } else if (this.take('between')) {
      const low = this.#comparable(value, '<');
      this.require('and');
      const high = this.#comparable(value, '<');
      found = { kind: 'between', type: 'condition', value, low, high, at, end: this.end };
    }
    if (!found && isNot) throw this.wrong('in, between, like, ilike or glob');
    return found && isNot ? this.#negated(found, at) : (found ?? value);
  }

  /** Parses the right side of a comparison: a plain word is a text, unless it is the name of a field. */
  #comparable(left: Expression, sign: ComparisonSign, mayBeMissing = false): Expression {
    const { at } = this;
    const right = this.sum(true);
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

  /** `name = 42` is read as the text "42", because the left side is a text. */
  #asText(left: Expression, right: Expression, sign: ComparisonSign): Expression | undefined {
    const isPlain = right.kind === 'literal' && typeof right.value === 'number' && left.type === 'text';
    if (!isPlain || (sign !== '=' && sign !== '!=')) return undefined;
    return { ...right, type: 'text', value: this.text.slice(right.at, right.end) };
  }

  #pattern(value: Expression, style: PatternStyle, isNot: boolean): Expression {
    const { at } = this;
    const token = this.token;
    if (!token || token.kind === 'sign' || token.kind === 'path') throw this.wrong(literalWanted);
    this.skip();
    const pattern = readPattern(token.text, style);
    if (!pattern) throw wrongQuery(this.text, at, 'a regular expression');
    const found: Expression = {
      kind: 'pattern',
      type: 'condition',
      value,
      pattern,
      at: value.at,
      end: this.end,
    };
    return isNot ? this.#negated(found, value.at) : found;
  }

  #has(at: number): Expression {
    const token = this.token;
    if (!token || token.kind === 'sign') throw this.wrong('a property');
    this.skip();
    const steps = token.kind === 'path' ? token.steps : [{ kind: 'name' as const, name: token.text }];
    return { kind: 'has', type: 'condition', steps, at, end: token.end };
  }

  #relation(): RelationName | undefined {
    for (const name of relationNames) {
      const words = name.split(' ');
      const isHere = words.every((word, row) => {
        const token = this.ahead(row);
        return token?.kind === 'word' && token.text.toLowerCase() === word;
      });
      if (!isHere) continue;
      this.skip(words.length);
      return name;
    }
    return undefined;
  }

  #target(): Target {
    const token = this.token;
    if (token?.kind === 'word' && /^(@\d+|root)$/.test(token.text)) {
      this.skip();
      return { kind: 'node', words: token.text };
    }
    if (!this.takeSign('(')) return { kind: 'where', condition: this.classCondition() };
    const condition = this.nested(() => this.#required(() => this.inBrackets()));
    this.requireSign(')');
    return { kind: 'where', condition };
  }

  /** A class name alone, as a condition. */
  classCondition(): Expression {
    const { at } = this;
    if (this.isWord(subclasses) && this.ahead(1)?.kind === 'word')
      throw this.wrong(
        'a class alone (a snapshot does not say which are its subclasses: where class in (A, B))',
      );
    const name = this.word(
      'a class (in quotes, if it is more than a word: "{id, name}"), @id or ( and a condition',
    );
    const end = this.end;
    const left: Expression = { kind: 'field', field: 'class', type: 'text', at, end };
    const right: Expression = { kind: 'literal', value: name, type: 'text', at, end };
    return { kind: 'compare', type: 'condition', sign: '=', left, right, at, end };
  }

  #required(read: () => Expression): Expression {
    return this.#check(read());
  }

  #check(expression: Expression): Expression {
    if (expression.type !== 'condition' && expression.kind === 'property' && expression.steps.length)
      throw this.wrong(`${comparisonWanted} (${this.text.slice(expression.at, expression.end)} = true)`);
    if (expression.type !== 'condition') throw this.wrong(comparisonWanted);
    return expression;
  }
}
