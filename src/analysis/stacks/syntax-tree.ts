/** The syntax tree of a script that ran, parsed by acorn. */
import type { Node, Position } from 'acorn';

/** Longer texts are not parsed. */
const longestText = 1024 * 1024;

export type SourceKind = 'module' | 'commonjs';

/** Undefined if acorn can't parse it, for example because redaction left invalid JavaScript. */
export async function parseScript(text: string, sourceType: SourceKind): Promise<Node | undefined> {
  if (text.length > longestText) return undefined;
  const { parse } = await import('acorn');
  try {
    return parse(text, { ecmaVersion: 'latest', sourceType, allowHashBang: true, locations: true });
  } catch {
    return undefined;
  }
}

/** All wanted nodes below `root` in source order; `closed` nodes and everything below them are skipped. */
export function findNodes(
  root: Node,
  isWanted: (node: Node) => boolean,
  isClosed: (node: Node) => boolean = () => false,
): Node[] {
  const found: Node[] = [];
  const open: Node[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (isWanted(node)) found.push(node);
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child) && !isClosed(child)) open.push(child);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** A position as in a stack: both 1-based. */
export function placeIn(position: Position | undefined): { line: number; column: number } {
  return { line: position?.line ?? 1, column: (position?.column ?? 0) + 1 };
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
