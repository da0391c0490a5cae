/**
 * Where a program makes calls that an error shows only in Node's own code: `AbortSignal.timeout`, whose error has the place where it
 * arrived, and `new Worker` of a thread, whose error has none.
 */
import type { Node } from 'acorn';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';
import { findThreadStarts } from './thread-starts.ts';

export type SoughtCall = 'AbortSignal.timeout' | 'new Worker';

/** In source order; undefined if the text can't be parsed. */
export async function findCalls(
  text: string,
  kind: SourceKind,
  sought: SoughtCall,
): Promise<{ line: number; column: number }[] | undefined> {
  const program = await parseScript(text, kind);
  return program && find[sought](program).map(({ loc }) => placeIn(loc?.start));
}

type Callee = Node & { callee?: unknown; object?: unknown; property?: unknown };

const find: Record<SoughtCall, (program: Node) => Node[]> = {
  'AbortSignal.timeout': (program) => findNodes(program, isTimeLimit),
  'new Worker': findThreadStarts,
};

function isTimeLimit(node: Node): boolean {
  const { callee } = node as Callee;
  if (node.type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
  const { object, property } = callee as Callee;
  return isNamed(object, 'AbortSignal') && isNamed(property, 'timeout');
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && (node as Node & { name?: string }).name === name;
}
