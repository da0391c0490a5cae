/** Runs a query over all nodes. The syntax is query-syntax.ts' matter. */

import { AgentdumpError } from '../../../errors.ts';
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapNodeRow } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { kindOf } from './heap-value.ts';
import { findChild, nodeRow, stringText } from './node-rows.ts';
import type { Condition, Query, QueryField, QueryOperator } from './query-syntax.ts';

export interface QueryResult {
  /** Nodes that match; more than are listed when there is a limit. */
  matches: number;
  nodes: HeapNodeRow[];
}

type Test = (node: number) => boolean;

export function runQuery(heap: Heap, query: Query, limit: number): QueryResult {
  const test = compile(heap, query.where);
  const found: number[] = [];
  for (let node = 0; node < heap.nodeCount; node++) if (test(node)) found.push(node);
  const value = fieldReader(heap, query.sort);
  const sign = query.descending ? -1 : 1;
  found.sort((a, b) => sign * compareValues(value(a), value(b)) || a - b);
  return {
    matches: found.length,
    nodes: found.slice(0, query.limit ?? limit).map((node) => nodeRow(heap, node)),
  };
}

function compile(heap: Heap, condition: Condition): Test {
  switch (condition.kind) {
    case 'all': {
      const tests = condition.parts.map((part) => compile(heap, part));
      return (node) => tests.every((test) => test(node));
    }
    case 'any': {
      const tests = condition.parts.map((part) => compile(heap, part));
      return (node) => tests.some((test) => test(node));
    }
    case 'not': {
      const test = compile(heap, condition.part);
      return (node) => !test(node);
    }
    case 'field': {
      const value = fieldReader(heap, condition.field);
      const matches = comparison(condition.operator, condition.value);
      return (node) => matches(value(node));
    }
    case 'has': {
      const { name } = condition;
      return (node) => findChild(heap, node, name, EdgeType.property) >= 0;
    }
    case 'property': {
      const { name } = condition;
      const matches = comparison(condition.operator, condition.value);
      return (node) => {
        const child = findChild(heap, node, name, EdgeType.property);
        return child >= 0 && matches(propertyValue(heap, child));
      };
    }
  }
}

function propertyValue(heap: Heap, node: number): string {
  return kindOf(heap, node) === 'string' ? stringText(heap, node) : heap.snapshot.nodeName(node);
}

export function fieldReader(heap: Heap, field: QueryField): (node: number) => string | number {
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
      return (node) => heap.distances[node]!;
    case 'edges':
      return (node) => snapshot.nodes.firstEdge[node + 1]! - snapshot.nodes.firstEdge[node]!;
    case 'dominator':
      return (node) => snapshot.nodes.id.get(heap.tree.dominator[node]!);
  }
}

function comparison(operator: QueryOperator, wanted: string | number): (value: string | number) => boolean {
  if (operator === '~' || operator === '!~') {
    const pattern = asPattern(String(wanted));
    return (value) => pattern.test(String(value)) === (operator === '~');
  }
  const compare = (value: string | number): number =>
    compareValues(value, typeof value === 'string' ? String(wanted) : wanted);
  switch (operator) {
    case '=':
      return (value) => compare(value) === 0;
    case '!=':
      return (value) => compare(value) !== 0;
    case '<':
      return (value) => compare(value) < 0;
    case '<=':
      return (value) => compare(value) <= 0;
    case '>':
      return (value) => compare(value) > 0;
    case '>=':
      return (value) => compare(value) >= 0;
  }
}

function asPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (cause) {
    throw new AgentdumpError('usage', `${text} is no regular expression`, { argument: text }, cause);
  }
}

function compareValues(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
