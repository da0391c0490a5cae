/**
 * The syntax tree of `heap query`; README.md of the parent folder contains the grammar. Every node has its position in the
 * text, for error messages.
 */
import { AgentdumpError } from '../../../errors.ts';

/** Fields of every node of the graph: the type of their values, and how a column shows them. */
export const fieldTraits = {
  id: { type: 'number', column: 'id' },
  name: { type: 'text', column: 'value' },
  type: { type: 'text', column: 'value' },
  class: { type: 'text', column: 'value' },
  self: { type: 'number', column: 'bytes' },
  retained: { type: 'number', column: 'bytes' },
  distance: { type: 'number', column: 'number' },
  edges: { type: 'number', column: 'number' },
  dominator: { type: 'number', column: 'id' },
  value: { type: 'any', column: 'value' },
  path: { type: 'text', column: 'value' },
  capacity: { type: 'number', column: 'number' },
  fill: { type: 'number', column: 'number' },
  wasted: { type: 'number', column: 'bytes' },
  change: { type: 'text', column: 'value' },
  promise: { type: 'text', column: 'value' },
} as const;
export type QueryField = keyof typeof fieldTraits;
export const queryFields = Object.keys(fieldTraits) as QueryField[];

export const aggregateNames = ['count', 'sum', 'min', 'max', 'avg'] as const;
export type AggregateName = (typeof aggregateNames)[number];
/** Functions of one value. */
export const functionNames = ['length', 'lower', 'upper'] as const;
export type FunctionName = (typeof functionNames)[number];

/** Relations between nodes of the graph. */
export const relationNames = [
  'references',
  'referenced by',
  'retains',
  'retained by',
  'dominates',
  'dominated by',
] as const;
export type RelationName = (typeof relationNames)[number];

export type ComparisonSign = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type PatternStyle = 'like' | 'ilike' | 'glob' | 'regexp';

/** One step of `.res["x"][0][Symbol(tag)]`. */
export type Step = { kind: 'name' | 'key' | 'symbol'; name: string } | { kind: 'index'; index: number };

/** A `condition` is true, false or unknown; the others are values. `any`: only known at run time. */
export type ExpressionType = 'condition' | 'number' | 'text' | 'any';

interface Placed {
  type: ExpressionType;
  /** Offsets in the text, half-open. */
  at: number;
  end: number;
}

export type Expression = Placed &
  (
    | { kind: 'literal'; value: string | number | boolean | null }
    | { kind: 'field'; field: QueryField; of?: Expression }
    | { kind: 'property'; steps: Step[] }
    | { kind: 'call'; name: FunctionName; argument: Expression }
    | { kind: 'aggregate'; name: AggregateName; argument: Expression | undefined; isDistinct: boolean }
    /** Refers to a column of `select … as name`. */
    | { kind: 'alias'; name: string }
    | { kind: 'arithmetic'; sign: '+' | '-' | '*' | '/' | '%'; left: Expression; right: Expression }
    | { kind: 'and' | 'or'; parts: Expression[] }
    | { kind: 'not'; part: Expression }
    | { kind: 'compare'; sign: ComparisonSign; left: Expression; right: Expression }
    | { kind: 'in'; value: Expression; list: Expression[] }
    | { kind: 'between'; value: Expression; low: Expression; high: Expression }
    | { kind: 'missing'; value: Expression }
    | { kind: 'pattern'; value: Expression; pattern: RegExp }
    | { kind: 'has'; steps: Step[] }
    | { kind: 'relation'; relation: RelationName; target: Target }
  );
export type ExpressionOf<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

export type Target = { kind: 'node'; words: string } | { kind: 'where'; condition: Expression };

export interface Column {
  name: string;
  expression: Expression;
}

export interface SortKey {
  expression: Expression;
  isDescending: boolean;
}

export interface Query {
  where: Expression | undefined;
  /** Undefined without `select` and groups, and for `select *`: the default columns of nodes. */
  select: Column[] | undefined;
  isDistinct: boolean;
  groupBy: Expression[];
  having: Expression | undefined;
  orderBy: SortKey[];
  limit: number | undefined;
}

/** Whether rows are groups of nodes. */
export function isGrouped({ select, groupBy, having, orderBy }: Query): boolean {
  const asked = [...(select ?? []), ...orderBy].map(({ expression }) => expression);
  return groupBy.length > 0 || [...asked, ...(having ? [having] : [])].some(hasAggregate);
}

export function hasAggregate(expression: Expression): boolean {
  return expression.kind === 'aggregate' || partsOf(expression).some(hasAggregate);
}

/** The direct subexpressions, without the condition of a relation, which is evaluated separately. */
export function partsOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'field':
      return expression.of ? [expression.of] : [];
    case 'call':
      return [expression.argument];
    case 'aggregate':
      return expression.argument ? [expression.argument] : [];
    case 'arithmetic':
    case 'compare':
      return [expression.left, expression.right];
    case 'and':
    case 'or':
      return expression.parts;
    case 'not':
      return [expression.part];
    case 'in':
      return [expression.value, ...expression.list];
    case 'between':
      return [expression.value, expression.low, expression.high];
    case 'missing':
    case 'pattern':
      return [expression.value];
    default:
      return [];
  }
}

/** The same for equal expressions at different positions. */
export function expressionKey(expression: Expression): string {
  return JSON.stringify(expression, (key, value) =>
    key === 'at' || key === 'end' ? undefined : value instanceof RegExp ? String(value) : value,
  );
}

/** The error for a query that is invalid or can have no result, with its position. */
export function wrongQuery(text: string, at: number, wanted: string): AgentdumpError {
  const rest = text.slice(at).trim();
  const where = rest ? `at character ${at + 1}, before ${JSON.stringify(rest.slice(0, 30))}` : 'at the end';
  return new AgentdumpError('usage', `the query is not understood ${where}: ${wanted} expected`, {
    argument: text,
    at,
  });
}
