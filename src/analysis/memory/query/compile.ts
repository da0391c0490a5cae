/** Compiles conditions and values to functions of a row: of a node, or of a group (aggregates.ts) with known values. */
import { AgentdumpError, assertNever } from '../../../errors.ts';
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { FillReader, wastedBytes } from '../questions/fill.ts';
import { distanceOf, findChild } from '../questions/node-rows.ts';
import { pathText, shortPath } from '../questions/paths.ts';
import { changeReader, type OtherSnapshot } from './change.ts';
import type { PropertyReader } from './properties.ts';
import { findRelated } from './relations.ts';
import { type Expression, type ExpressionOf, expressionKey, type QueryField } from './syntax.ts';
import {
  all,
  any,
  compare,
  isEqual,
  NodeReference,
  not,
  type ReadValue,
  type TestRow,
  type Truth,
  type Value,
} from './values.ts';

export interface Scope {
  heap: Heap;
  properties: PropertyReader;
  /** For the field `change`. */
  other?: OtherSnapshot | undefined;
  /** By expressionKey: values of the row that are known without reading nodes. */
  known?: ReadonlyMap<string, ReadValue>;
}

export function compileTest(scope: Scope, expression: Expression): TestRow {
  const test = (part: Expression): TestRow => compileTest(scope, part);
  const value = (part: Expression): ReadValue => compileValue(scope, part);
  switch (expression.kind) {
    case 'and':
    case 'or': {
      const parts = expression.parts.map(test);
      const join = expression.kind === 'and' ? all : any;
      return (row) => join(answers(parts, row));
    }
    case 'not': {
      const part = test(expression.part);
      return (row) => not(part(row));
    }
    case 'compare': {
      const { sign } = expression;
      const isOrder = sign !== '=' && sign !== '!=';
      const [left, right] = [expression.left, expression.right].map((part) =>
        isOrder ? notingObjects(scope, part) : value(part),
      ) as [ReadValue, ReadValue];
      return (row) => compare(sign, left(row), right(row));
    }
    case 'in': {
      const left = value(expression.value);
      const list = expression.list.map(value);
      return (row) => {
        const wanted = left(row);
        return any(list.map((item) => isEqual(wanted, item(row))));
      };
    }
    case 'between': {
      const [low, high] = [expression.low, expression.high].map(value);
      const middle = notingObjects(scope, expression.value);
      return (row) => {
        const at = middle(row);
        return all([compare('>=', at, low!(row)), compare('<=', at, high!(row))]);
      };
    }
    case 'missing': {
      const read = value(expression.value);
      return (row) => read(row) === null;
    }
    case 'pattern': {
      const read = value(expression.value);
      const { pattern } = expression;
      return (row) => matches(pattern, read(row));
    }
    case 'has': {
      const { steps } = expression;
      return (node) => scope.properties.find(node, steps) >= 0;
    }
    case 'relation':
      return relationTest(scope, expression);
    default:
      throw new TypeError(`${expression.kind} is no condition`);
  }
}

/** Objects, such as dates, have no order: what was asked is not answered by an empty result. */
function notingObjects(scope: Scope, expression: Expression): ReadValue {
  const read = compileValue(scope, expression);
  if (expression.kind !== 'property') return read;
  const { unordered } = scope.properties;
  return (row) => {
    const value = read(row);
    if (value instanceof NodeReference) unordered.set(expression.steps, value.className);
    return value;
  };
}

function* answers(parts: readonly TestRow[], row: number): Generator<Truth> {
  for (const part of parts) yield part(row);
}

/** Objects are matched by their class, as in comparisons. */
function matches(pattern: RegExp, value: Value): Truth {
  if (value === null) return null;
  return pattern.test(typeof value === 'object' ? value.className : String(value));
}

/** All related nodes are computed on first use. */
function relationTest(scope: Scope, { relation, target }: ExpressionOf<'relation'>): TestRow {
  let found: Uint8Array | undefined;
  return (node) => {
    found ??= findRelated(scope.heap, relation, target, (condition) => compileTest(scope, condition));
    return found[node] === 1;
  };
}

export function compileValue(scope: Scope, expression: Expression): ReadValue {
  const known = scope.known?.get(expressionKey(expression));
  if (known) return known;
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'field':
      return fieldOf(scope, expression);
    case 'property': {
      const { steps } = expression;
      return (node) => scope.properties.value(node, steps);
    }
    case 'call':
      return callOf(scope, expression);
    case 'arithmetic':
      return arithmeticOf(scope, expression);
    case 'and':
    case 'or':
    case 'not':
    case 'compare':
    case 'in':
    case 'between':
    case 'missing':
    case 'pattern':
    case 'has':
    case 'relation':
      return compileTest(scope, expression);
    case 'aggregate':
    case 'alias':
      throw new TypeError(`${expression.kind} outside of a group`);
    default:
      return assertNever(expression, 'expression');
  }
}

function fieldOf(scope: Scope, { field, of }: ExpressionOf<'field'>): ReadValue {
  const read = fieldReader(scope, field);
  if (of?.kind !== 'property') return read;
  const { steps } = of;
  return (node) => {
    const target = scope.properties.find(node, steps);
    return target < 0 ? null : read(target);
  };
}

function fieldReader({ heap, properties, other }: Scope, field: QueryField): ReadValue {
  const { snapshot } = heap;
  switch (field) {
    case 'id':
      return (node) => snapshot.nodes.id.get(node);
    case 'name':
      return (node) => snapshot.nodeName(node);
    case 'type':
      return (node) => snapshot.nodeTypeName(node);
    case 'class':
      return (node) => heap.className(node);
    case 'self':
      return (node) => heap.selfSize.get(node);
    case 'retained':
      return (node) => heap.retained[node]!;
    case 'distance':
      return (node) => distanceOf(heap, node);
    case 'edges':
      return (node) => snapshot.nodes.firstEdge[node + 1]! - snapshot.nodes.firstEdge[node]!;
    case 'capacity':
    case 'fill':
    case 'wasted':
      return fillField(heap, field);
    case 'change':
      if (other) return changeReader(heap, other);
      throw new AgentdumpError('usage', 'change needs another snapshot of the process: --baseline FILE', {
        argument: 'change',
      });
    case 'promise':
      return (node) => promiseState(heap, node);
    case 'dominator':
      return (node) => (node === heap.root ? null : snapshot.nodes.id.get(heap.tree.dominator[node]!));
    case 'value':
      return (node) => properties.valueOf(node);
    case 'path':
      return (node) => shortPath(pathText(heap, node));
  }
}

/**
 * V8 keeps in one place what waits for a promise and what it was settled with. Where nothing waits, that is the number 0, which
 * a promise may also have as its value; small numbers are rarely in a snapshot.
 */
function promiseState(heap: Heap, node: number): 'pending' | 'settled' | null {
  const kept = findChild(heap, node, 'reactions_or_result', EdgeType.internal);
  if (kept < 0 || heap.snapshot.nodes.type[kept] === NodeType.number) return null;
  return heap.snapshot.nodeName(kept) === 'system / PromiseReaction' ? 'pending' : 'settled';
}

function fillField(heap: Heap, field: 'capacity' | 'fill' | 'wasted'): ReadValue {
  const reader = new FillReader(heap);
  return (node) => {
    const fill = reader.largest(node);
    if (!fill) return null;
    if (field === 'capacity') return fill.capacity;
    if (fill.used === undefined) return null;
    return field === 'wasted' ? wastedBytes(fill) : fill.used / fill.capacity;
  };
}

function callOf(scope: Scope, { name, argument }: ExpressionOf<'call'>): ReadValue {
  const { properties } = scope;
  if (name === 'length' && argument.kind === 'property') {
    const { steps } = argument;
    return (node) => {
      const target = properties.find(node, steps);
      return target < 0 ? null : properties.lengthOf(target);
    };
  }
  if (name === 'length' && argument.kind === 'field' && argument.field === 'value' && !argument.of)
    return (node) => properties.lengthOf(node);
  const read = compileValue(scope, argument);
  return (row) => {
    const value = read(row);
    if (typeof value !== 'string') return null;
    if (name === 'length') return value.length;
    return name === 'lower' ? value.toLowerCase() : value.toUpperCase();
  };
}

function arithmeticOf(scope: Scope, { sign, left, right }: ExpressionOf<'arithmetic'>): ReadValue {
  const [a, b] = [compileValue(scope, left), compileValue(scope, right)];
  return (row) => {
    const [x, y] = [a(row), b(row)];
    if (typeof x !== 'number' || typeof y !== 'number') return null;
    const result = calculate(sign, x, y);
    // A division by zero has no result.
    return Number.isFinite(result) ? result : null;
  };
}

function calculate(sign: ExpressionOf<'arithmetic'>['sign'], x: number, y: number): number {
  switch (sign) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    case '%':
      return x % y;
  }
}
