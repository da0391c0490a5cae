/**
 * Where a program makes calls that an error shows only in Node's own code: `AbortSignal.timeout`, whose error has the place where it
 * arrived, and `new Worker`, whose error has none.
 */
import type { Node } from 'acorn';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

export type SoughtCall = 'AbortSignal.timeout' | 'new Worker';

/** In source order; undefined if the text can't be parsed. */
export async function findCalls(
  text: string,
  kind: SourceKind,
  sought: SoughtCall,
): Promise<{ line: number; column: number }[] | undefined> {
  const program = await parseScript(text, kind);
  return program && findNodes(program, is[sought]).map(({ loc }) => placeIn(loc?.start));
}

type Callee = Node & { callee?: unknown; object?: unknown; property?: unknown };

const is: Record<SoughtCall, (node: Node) => boolean> = {
  'AbortSignal.timeout': (node) => {
    const { callee } = node as Callee;
    if (node.type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
    const { object, property } = callee as Callee;
    return isNamed(object, 'AbortSignal') && isNamed(property, 'timeout');
  },
  'new Worker': (node) => {
    const { callee } = node as Callee;
    if (node.type !== 'NewExpression' || !isNode(callee)) return false;
    return isNamed(callee, 'Worker') || isNamed((callee as Callee).property, 'Worker');
  },
};

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && (node as Node & { name?: string }).name === name;
}
