/**
 * Converts the flat rows of a heap's dominator tree to nodes with totals. Pure; a row may name a parent that is not above it.
 */
import type { RetainedFrame } from '../../../model/account.ts';

export interface RetainedNode {
  name: string;
  /** Including everything below. */
  bytes: number;
  ownBytes: number;
  count: number;
  children: RetainedNode[];
  /** V8's own: code, shapes, contexts, tables. */
  isEngine: boolean;
  /** One of a few colours; the same name has the same colour. */
  tone: number;
}

const tones = 6;

export function retainedTree(frames: readonly RetainedFrame[]): RetainedNode | undefined {
  const nodes = frames.map(({ name, bytes, count }) => ({
    name,
    bytes,
    ownBytes: bytes,
    count,
    children: [] as RetainedNode[],
    isEngine: isEngineName(name),
    tone: toneOf(name),
  }));
  // Parents come before their children, so backwards each node is complete when it is added to its parent.
  for (let n = nodes.length - 1; n > 0; n--) {
    const node = nodes[n]!;
    const parent = frames[n]!.parent;
    const above = parent >= 0 && parent < n ? nodes[parent] : undefined;
    if (!above) continue;
    above.bytes += node.bytes;
    above.children.push(node);
  }
  return nodes[0];
}

/** V8's own. */
export const isEngineName = (name: string): boolean =>
  /^\(|^system \/|^<|^native_/.test(name) && name !== '(string)' && name !== '(array)';

export function toneOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return sum % tones;
}
