/** Where a program calls functions of Node by which it starts operations that may fail later. */
import type { Node } from 'acorn';
import type { Starter } from '../../bundle/layout/operations.ts';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

export interface StartedCall {
  name: string;
  line: number;
  column: number;
  /** The first argument, if the text says it. */
  literal?: string;
}

type Fields = Node & Record<string, unknown>;

/** In source order; undefined if the text can't be parsed. */
export async function findStartedCalls(
  text: string,
  kind: SourceKind,
  starters: readonly Starter[],
): Promise<StartedCall[] | undefined> {
  const program = await parseScript(text, kind);
  return (
    program &&
    findNodes(program, ({ type }) => type === 'CallExpression').flatMap((node) => {
      const { callee, arguments: given } = node as Fields;
      const called = isNode(callee) ? calledAt(callee as Fields, text, starters) : undefined;
      if (!called) return [];
      const literal = Array.isArray(given) ? literalOf(given[0]) : undefined;
      const { line, column } = placeIn(called.node.loc?.start);
      return [{ name: called.name, line, column, ...(literal !== undefined && { literal }) }];
    })
  );
}

function calledAt(callee: Fields, text: string, starters: readonly Starter[]) {
  if (callee.type === 'Identifier') {
    const { name } = callee as Fields & { name: string };
    const isMeant = starters.some((one) => one.name === name) && isImported(name, text);
    return isMeant ? { name, node: callee } : undefined;
  }
  const { object, property } = callee;
  if (callee.type !== 'MemberExpression' || callee['computed'] || !isNode(object) || !isNode(property))
    return undefined;
  const { name } = property as Fields & { name: string };
  const of = text.slice(object.start, object.end).slice(-80);
  const isMeant = starters.some((one) => one.name === name && (!one.of || one.of.test(of)));
  return isMeant ? { name, node: property } : undefined;
}

/** Other functions of the program may have the same name. */
function isImported(name: string, text: string): boolean {
  const braces = String.raw`\{[^{}]*\b${name}\b[^{}]*\}`;
  return new RegExp(
    String.raw`import\s[^'"]*?${braces}|${braces}\s*=\s*(?:await\s+)?(?:require|import)\b`,
  ).test(text);
}

function literalOf(node: unknown): string | undefined {
  const value: unknown = isNode(node) && node.type === 'Literal' ? (node as Fields)['value'] : undefined;
  return typeof value === 'string' ? value : undefined;
}
