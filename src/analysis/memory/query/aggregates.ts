/** Groups of nodes with their aggregates. Missing values are ignored, as in SQL. */
import { compileValue, type Scope } from './compile.ts';
import { type Expression, type ExpressionOf, expressionKey, partsOf, type Query } from './syntax.ts';
import { groupKey, type ReadValue, sortOrder, type Value } from './values.ts';

export interface Groups {
  count: number;
  /** By expressionKey: keys and aggregates, as functions of the group's number. */
  known: ReadonlyMap<string, ReadValue>;
}

/** Without `group by` there is one group of all nodes, even if none matches. */
export function collectGroups(scope: Scope, query: Query, nodes: readonly number[]): Groups {
  const keys = query.groupBy.map((expression) => compileValue(scope, expression));
  const sums = aggregatesIn(query).map((expression) => new Aggregate(scope, expression));
  const rows: Value[][] = [];
  const rowOf = new Map<string, number>();
  const groupOf = (values: Value[]): number => {
    const text = values.map(groupKey).join('\0');
    const row = rowOf.get(text) ?? rows.push(values) - 1;
    rowOf.set(text, row);
    return row;
  };
  if (!keys.length) groupOf([]);
  for (const node of nodes) {
    const group = groupOf(keys.map((read) => read(node)));
    for (const sum of sums) sum.add(group, node);
  }
  const known = new Map<string, ReadValue>();
  for (const [at, expression] of query.groupBy.entries())
    known.set(expressionKey(expression), (group) => rows[group]![at]!);
  for (const sum of sums) known.set(sum.key, (group) => sum.of(group));
  return { count: rows.length, known };
}

function aggregatesIn({ select, having, orderBy }: Query): ExpressionOf<'aggregate'>[] {
  const found = new Map<string, ExpressionOf<'aggregate'>>();
  const look = (expression: Expression): void => {
    if (expression.kind === 'aggregate') found.set(expressionKey(expression), expression);
    else partsOf(expression).forEach(look);
  };
  for (const { expression } of [...(select ?? []), ...orderBy]) look(expression);
  if (having) look(having);
  return [...found.values()];
}

interface Sum {
  count: number;
  total: number;
  best: Value;
  seen: Set<string>;
}

class Aggregate {
  readonly key: string;
  readonly #expression: ExpressionOf<'aggregate'>;
  readonly #read: ReadValue | undefined;
  readonly #sums: Sum[] = [];

  constructor(scope: Scope, expression: ExpressionOf<'aggregate'>) {
    this.key = expressionKey(expression);
    this.#expression = expression;
    this.#read = expression.argument && compileValue(scope, expression.argument);
  }

  add(group: number, node: number): void {
    this.#sums[group] ??= { count: 0, total: 0, best: null, seen: new Set() };
    const sum = this.#sums[group];
    const value = this.#read ? this.#read(node) : node;
    if (value === null) return;
    const { name, isDistinct } = this.#expression;
    const isNumeric = name === 'sum' || name === 'avg';
    // A string among the numbers is ignored, like a missing value.
    if (isNumeric && typeof value !== 'number') return;
    if (isDistinct) {
      const key = groupKey(value);
      if (sum.seen.has(key)) return;
      sum.seen.add(key);
    }
    sum.count++;
    if (isNumeric) sum.total += value as number;
    else if (name !== 'count' && sortOrder(value, sum.best, name === 'max') < 0) sum.best = value;
  }

  of(group: number): Value {
    const sum = this.#sums[group];
    switch (this.#expression.name) {
      case 'count':
        return sum?.count ?? 0;
      case 'sum':
        return sum?.count ? sum.total : null;
      case 'avg':
        return sum?.count ? sum.total / sum.count : null;
      default:
        return sum?.best ?? null;
    }
  }
}
