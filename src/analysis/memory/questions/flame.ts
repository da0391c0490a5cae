/**
 * The dominator tree as stacks of classes, for flame graphs: each frame is a class, with what it retains below it, weighted
 * in bytes. Nodes of one class below the same frame share one frame; small subtrees are not expanded.
 */
import type { Heap } from '../heap.ts';

export interface FlameFrame {
  name: string;
  parent: number;
  /** Bytes of this frame alone: the weights of all frames add up to the heap. */
  bytes: number;
  count: number;
}

export interface FlameDetail {
  /** A subtree below this share of the heap is one frame without children. */
  least: number;
  maxDepth: number;
}

const fullDetail: FlameDetail = { least: 1 / 4000, maxDepth: 200 };

export function computeFlame(heap: Heap, { least: leastShare, maxDepth } = fullDetail): FlameFrame[] {
  const { retained, dominated, root, classes } = heap;
  const least = retained[root]! * leastShare;
  const frames: FlameFrame[] = [{ name: '(heap)', parent: -1, bytes: heap.selfSize.get(root), count: 1 }];
  const byClass: Map<number, number>[] = [new Map()];
  const depths = [0];
  const open: [node: number, frame: number][] = [[root, 0]];
  const frameFor = (parent: number, row: number): number => {
    const known = byClass[parent]!.get(row);
    if (known !== undefined) return known;
    const made = frames.push({ name: classes.kinds[row]!.name, parent, bytes: 0, count: 0 }) - 1;
    byClass[parent]!.set(row, made);
    byClass.push(new Map());
    depths.push(depths[parent]! + 1);
    return made;
  };
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, frame] = next;
    for (const child of dominated.of(node)) {
      const row = classes.of[child]!;
      // Otherwise a list would have as many frames as links: a class directly below itself stays in the same frame.
      const isSame = frames[frame]!.name === classes.kinds[row]!.name || depths[frame]! >= maxDepth;
      const below = isSame ? frame : frameFor(frame, row);
      frames[below]!.count++;
      const isOpened = retained[child]! >= least;
      frames[below]!.bytes += isOpened ? heap.selfSize.get(child) : retained[child]!;
      if (isOpened) open.push([child, below]);
    }
  }
  return frames;
}
