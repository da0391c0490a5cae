/**
 * Where a module may suspend during its evaluation: `await`, `for await` and `await using` outside of all functions. V8
 * doesn't report which of them has not settled.
 */
import type { Node } from 'acorn';
import { findNodes, parseScript, placeIn } from '../syntax-tree.ts';

/** 1-based, as in a stack. V8 reports an await at its first letter, a loop somewhere in its head. */
export interface AwaitPlace {
  line: number;
  column: number;
  /** The first position after the range in which V8 may report it. */
  end: { line: number; column: number };
  /** The names of what is called within the awaited expression. */
  calls: string[];
}

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** In source order; undefined if the text can't be parsed as a module. */
export async function findTopLevelAwaits(text: string): Promise<AwaitPlace[] | undefined> {
  const program = await parseScript(text, 'module');
  return program && findNodes(program, waits, ({ type }) => functions.has(type)).map(placeOf);
}

function placeOf(node: Node): AwaitPlace {
  const start = placeIn(node.loc?.start);
  const { body, right, argument } = node as Node & { body?: Node; right?: Node; argument?: Node };
  const calls = calledNames(argument ?? right ?? node);
  if (body) return { ...start, end: placeIn(body.loc?.start), calls };
  if (node.type === 'AwaitExpression')
    return { ...start, end: { ...start, column: start.column + 1 }, calls };
  return { ...start, end: placeIn(node.loc?.end), calls };
}

/** Whether a stack position belongs to this await. */
export function isAt(place: AwaitPlace, line: number, column: number): boolean {
  const isBefore = line < place.line || (line === place.line && column < place.column);
  return !isBefore && (line < place.end.line || (line === place.end.line && column < place.end.column));
}

/** `generateText` of `generateText(…)`, `create` of `client.create(…)`, also in arguments and functions within. */
export function calledNames(root: Node): string[] {
  return findNodes(root, ({ type }) => type === 'CallExpression').flatMap((node) => {
    const { callee } = node as Node & { callee?: Node & { name?: string; property?: { name?: string } } };
    const name = callee?.type === 'MemberExpression' ? callee.property?.name : callee?.name;
    return name === undefined ? [] : [name];
  });
}

function waits(node: Node): boolean {
  const { type, await: isAwaited, kind } = node as Node & { await?: boolean; kind?: string };
  if (type === 'ForOfStatement') return isAwaited === true;
  return type === 'AwaitExpression' || (type === 'VariableDeclaration' && kind === 'await using');
}
