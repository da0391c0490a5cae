/** What was added to containers that grew: the class of which most bytes are new, and where such objects are written. */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGrownNode, HeapSource } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { sourceOf } from '../questions/scripts.ts';

type Added = NonNullable<HeapGrownNode['added']>;

/** V8's own parts of a container (elements, tables): what is in them is what counts. */
const innerTypes: ReadonlySet<number> = new Set([NodeType.array, NodeType.hidden]);

/** @param isNew by an object's id. */
export function mostAdded(
  heap: Heap,
  containers: readonly number[],
  isNew: (id: number) => boolean,
): Added | undefined {
  const { snapshot, retained, dominated } = heap;
  const sums = new Map<string, Added>();
  const open = [...containers];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const child of dominated.of(at)) {
      const type = snapshot.nodes.type[child]!;
      if (innerTypes.has(type)) open.push(child);
      else if (type !== NodeType.code && isNew(snapshot.nodes.id.get(child))) {
        const name = heap.className(child);
        const sum = sums.get(name) ?? {
          class: name,
          count: 0,
          retainedSizeBytes: 0,
          ...placeOf(heap, child),
        };
        sum.count++;
        sum.retainedSizeBytes += retained[child]!;
        sums.set(name, sum);
      }
    }
  return [...sums.values()].sort((a, b) => b.retainedSizeBytes - a.retainedSizeBytes)[0];
}

/** Of a function its own line, else that of the constructor. */
function placeOf(heap: Heap, node: number): { source?: HeapSource } {
  const { classes, snapshot } = heap;
  const own = sourceOf(heap, snapshot.location(node));
  const source = own ?? sourceOf(heap, classes.kinds[classes.of[node]!]?.place);
  return source ? { source } : {};
}
