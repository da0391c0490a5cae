/** Where a program calls `AbortSignal.timeout`: the resulting error shows where it arrived, not where the limit was set. */
import type { Node } from 'acorn';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

/** In source order; undefined if the text can't be parsed. */
export async function findTimeLimits(
  text: string,
  kind: SourceKind,
): Promise<{ line: number; column: number }[] | undefined> {
  const program = await parseScript(text, kind);
  return program && findNodes(program, setsTimeLimit).map(({ loc }) => placeIn(loc?.start));
}

function setsTimeLimit(node: Node): boolean {
  if (node.type !== 'CallExpression') return false;
  const { callee } = node as Node & { callee?: unknown };
  if (!isNode(callee) || callee.type !== 'MemberExpression') return false;
  const { object, property } = callee as Node & { object?: unknown; property?: unknown };
  return isNamed(object, 'AbortSignal') && isNamed(property, 'timeout');
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && (node as Node & { name?: string }).name === name;
}
