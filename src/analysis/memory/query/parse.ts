/**
 * Parses the text of a query; clauses here, expressions in parse-expression.ts. Clauses may have any order, so that both
 * `class = Session limit 5` and `select class, count() from Session group by class` are valid.
 */
import { ExpressionParser } from './parse-expression.ts';
import { isReserved } from './parse-value.ts';
import {
  type Column,
  type Expression,
  expressionKey,
  hasAggregate,
  isGrouped,
  partsOf,
  type Query,
  type SortKey,
  wrongQuery,
} from './syntax.ts';
import { type Token, tokenize } from './tokens.ts';

const setOperations = ['union', 'intersect', 'except'];
const joins = ['join', 'inner', 'left', 'right', 'outer', 'cross'];

/** @throws AgentdumpError `usage`, with the position at which the text is not a valid query. */
export function parseQuery(text: string): Query {
  const tokens = tokenize(text);
  const alias = findAlias(tokens);
  return new QueryParser(alias ? tokenize(text, alias) : tokens, text, alias).query();
}

/** The name in `from Session s` or `from Session as s`, as SQL and Eclipse MAT have it. */
function findAlias(tokens: readonly Token[]): string | undefined {
  const isWord = (at: number, word: string): boolean =>
    tokens[at]?.kind === 'word' && tokens[at].text.toLowerCase() === word;
  const from = tokens.findIndex((_, at) => isWord(at, 'from'));
  if (from < 0 || tokens[from + 1]?.kind === 'sign') return undefined;
  const name = tokens[from + (isWord(from + 2, 'as') ? 3 : 2)];
  if (name?.kind !== 'word' || isReserved(name.text) || setOperations.includes(name.text.toLowerCase()))
    return undefined;
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name.text) ? name.text : undefined;
}

class QueryParser extends ExpressionParser {
  readonly #seen = new Set<string>();
  #conditions: Expression[] = [];
  readonly #alias: string | undefined;

  constructor(tokens: readonly Token[], text: string, alias: string | undefined) {
    super(tokens, text);
    this.#alias = alias;
    this.rowName = alias;
  }

  query(): Query {
    const query: Query = {
      where: undefined,
      select: undefined,
      isDistinct: false,
      groupBy: [],
      having: undefined,
      orderBy: [],
      limit: undefined,
    };
    if (!this.isAtEnd && !this.isClause()) this.#conditions.push(this.condition());
    while (!this.isAtEnd) this.#clause(query);
    if (this.#conditions.length === 1) query.where = this.#conditions[0];
    else if (this.#conditions.length)
      query.where = { kind: 'and', type: 'condition', at: 0, end: 0, parts: this.#conditions };
    return this.#checked(query);
  }

  #clause(query: Query): void {
    if (this.#begins('select')) {
      query.isDistinct = this.take('distinct');
      query.select = this.#columns();
    } else if (this.#begins('from')) {
      this.#conditions.push(this.classCondition());
      if (this.#alias && (this.take('as') || this.isWord(this.#alias.toLowerCase()))) this.skip();
    } else if (this.#begins('where')) this.#conditions.push(this.condition());
    else if (this.#begins('group')) {
      this.require('by');
      query.groupBy = this.list(() => this.valueOrAlias());
    } else if (this.#begins('having')) query.having = this.condition(true);
    else if (this.#begins('sort')) {
      this.take('by');
      query.orderBy = this.list(() => this.#sortKey(true));
    } else if (this.#begins('order')) {
      this.require('by');
      query.orderBy = this.list(() => this.#sortKey(false));
    } else if (this.#begins('limit')) query.limit = this.count();
    else if (this.isWord(...setOperations))
      throw this.wrong('one query, in which `or` and `and not` join the conditions,');
    else if (this.isWord(...joins))
      throw this.wrong('no join: `.user.name`, `references (condition)` or `referenced by (condition)` is');
    else throw this.wrong('and, or, or a clause (where, select, group by, having, order by, limit)');
  }

  #begins(clause: string): boolean {
    const { at } = this;
    if (!this.take(clause)) return false;
    if (this.#seen.has(clause)) throw wrongQuery(this.text, at, `only one ${clause}`);
    this.#seen.add(clause);
    return true;
  }

  #columns(): Column[] | undefined {
    if (this.takeSign('*')) return undefined;
    return this.list(() => {
      const expression = this.value();
      const name = this.take('as') ? this.word('a name') : this.text.slice(expression.at, expression.end);
      return { name, expression };
    });
  }

  /** `sort by` puts the largest first, as it always has here; `order by` the smallest, as in SQL. */
  #sortKey(isDescending: boolean): SortKey {
    const expression = this.valueOrAlias();
    if (this.take('asc')) return { expression, isDescending: false };
    return { expression, isDescending: this.take('desc') || isDescending };
  }

  #checked(query: Query): Query {
    const aliases = new Map(query.select?.map(({ name, expression }) => [name, expression]) ?? []);
    const resolve = (expression: Expression): Expression => {
      if (expression.kind !== 'alias') return expression;
      const known = aliases.get(expression.name);
      if (known) return known;
      throw wrongQuery(
        this.text,
        expression.at,
        `a field or a column of select (${expression.name} is none)`,
      );
    };
    query.groupBy = query.groupBy.map(resolve);
    query.orderBy = query.orderBy.map((key) => ({ ...key, expression: resolve(key.expression) }));
    if (query.having) query.having = resolveInside(query.having, resolve);
    for (const expression of query.groupBy) this.#refuseAggregates(expression, 'a group is made');
    if (query.where) this.#refuseAggregates(query.where, 'one node is looked at: having is for groups');
    if (isGrouped(query)) this.#requireGrouped(query);
    return query;
  }

  #refuseAggregates(expression: Expression, reason: string): void {
    if (expression.kind === 'aggregate')
      throw wrongQuery(this.text, expression.at, `no ${expression.name}() where ${reason}; something else`);
    for (const part of partsOf(expression)) this.#refuseAggregates(part, reason);
  }

  /** A column that isn't an aggregate or a group key could have a different value for each node of a group. */
  #requireGrouped({ select, groupBy, having, orderBy }: Query): void {
    const keys = new Set(groupBy.map(expressionKey));
    const check = (expression: Expression): void => {
      if (keys.has(expressionKey(expression))) return;
      if (expression.kind === 'aggregate') {
        for (const part of partsOf(expression))
          if (hasAggregate(part)) throw wrongQuery(this.text, part.at, 'a value of each node');
        return;
      }
      if (expression.kind === 'field' || expression.kind === 'property')
        throw wrongQuery(
          this.text,
          expression.at,
          'a value of the group: a column of group by, or count() and the like,',
        );
      partsOf(expression).forEach(check);
    };
    for (const { expression } of [...(select ?? []), ...orderBy]) check(expression);
    if (having) check(having);
  }
}

function resolveInside(expression: Expression, resolve: (part: Expression) => Expression): Expression {
  const inside = (part: Expression): Expression => resolveInside(part, resolve);
  switch (expression.kind) {
    case 'alias':
      return resolve(expression);
    case 'and':
    case 'or':
      return { ...expression, parts: expression.parts.map(inside) };
    case 'not':
      return { ...expression, part: inside(expression.part) };
    case 'arithmetic':
    case 'compare':
      return { ...expression, left: inside(expression.left), right: inside(expression.right) };
    case 'in':
      return { ...expression, value: inside(expression.value), list: expression.list.map(inside) };
    case 'between':
      return {
        ...expression,
        value: inside(expression.value),
        low: inside(expression.low),
        high: inside(expression.high),
      };
    case 'missing':
    case 'pattern':
      return { ...expression, value: inside(expression.value) };
    default:
      return expression;
  }
}
