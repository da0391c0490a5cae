/**
 * Where a module may wait before it is evaluated: `await`, `for await` and `await using` outside of all functions. V8 tells
 * nobody which of them has not settled.
 */
import type { Node } from 'acorn';

/** 1-based, as in a stack. V8 gives an await at its first letter, a loop somewhere in its head. */
export interface AwaitPlace {
  line: number;
  column: number;
  /** The first place behind what V8 may give. */
  end: { line: number; column: number };
}

/** Longer texts are not parsed. */
const longestText = 1024 * 1024;

/** In the order of the text; undefined for what is no module that acorn can parse, as where redaction left no JavaScript. */
export async function findTopLevelAwaits(text: string): Promise<AwaitPlace[] | undefined> {
  if (text.length > longestText) return undefined;
  const { parse } = await import('acorn');
  let program: Node;
  try {
    program = parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowHashBang: true,
      locations: true,
    });
  } catch {
    return undefined;
  }
  const found: Node[] = [];
  const open: Node[] = [program];
  for (let node = open.pop(); node; node = open.pop()) {
    if (waits(node)) found.push(node);
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child) && !functions.has(child.type)) open.push(child);
  }
  return found.sort((a, b) => a.start - b.start).map(placeOf);
}

function placeOf(node: Node): AwaitPlace {
  const start = oneBased(node.loc?.start);
  const { body } = node as Node & { body?: Node };
  if (body) return { ...start, end: oneBased(body.loc?.start) };
  if (node.type === 'AwaitExpression') return { ...start, end: { ...start, column: start.column + 1 } };
  return { ...start, end: oneBased(node.loc?.end) };
}

function oneBased({ line = 1, column = 0 }: { line?: number; column?: number } = {}): {
  line: number;
  column: number;
} {
  return { line, column: column + 1 };
}

/** Whether a position of a stack is one of this await. */
export function isAt(place: AwaitPlace, line: number, column: number): boolean {
  const isBefore = line < place.line || (line === place.line && column < place.column);
  return !isBefore && (line < place.end.line || (line === place.end.line && column < place.end.column));
}

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

function waits(node: Node): boolean {
  const { type, await: isAwaited, kind } = node as Node & { await?: boolean; kind?: string };
  if (type === 'ForOfStatement') return isAwaited === true;
  return type === 'AwaitExpression' || (type === 'VariableDeclaration' && kind === 'await using');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
