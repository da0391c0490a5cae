/** Many objects of one class that together retain a tenth of the heap, or a few that retain a quarter of it. */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import { formatBytes } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { largestOf } from '../questions/node-rows.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';
import { classMembers } from '../suspects/class-members.ts';
import { commonHolder, listsBelow } from '../suspects/common-holder.ts';
import { isCrowdOf } from '../suspects/crowds.ts';
import { isDeepStructure } from '../suspects/deep-structure.ts';
import {
  describeNode,
  isLargeShare,
  isModuleData,
  manyText,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.1;
const leastCount = 100;
/** For large objects (workers, windows), of which there may be few. */
const leastShareOfFew = 0.25;
const leastFew = 8;
/** A single object that retains nearly all of it is reported by itself. */
const mostOfOneAmongFew = 0.5;

export const largeClassRule: SuspectRule = {
  name: 'large-class',
  isGeneral: true,
  find(context) {
    const { heap, totalBytes } = context;
    const { count, retainedSize } = heap.aggregates;
    return heap.classes.kinds
      .map((kind, row) => ({ kind, row, bytes: retainedSize[row]!, count: count[row]! }))
      .filter(
        ({ kind, bytes, count }) =>
          isProgramClass(kind.name) &&
          ((count >= leastCount && isLargeShare(context, bytes, leastShare)) ||
            (count >= leastFew && isLargeShare(context, bytes, leastShareOfFew))),
      )
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, 5)
      .filter(({ row }) => context.tellsAll || isCrowdOf(heap, classMembers(heap).of(row)))
      .filter(({ row }) => !areExports(heap, row))
      .map((found) => ({ ...found, ...holderOf(heap, found.row) }))
      .filter(
        ({ count, bytes, largest }) =>
          count >= leastCount || heap.retained[largest]! < bytes * mostOfOneAmongFew,
      )
      .filter(({ holder }) => holder < 0 || !isModuleData(context, holder))
      .filter(
        ({ holder, largest, row }) =>
          context.tellsAll ||
          !isDeepStructure(heap, holder < 0 ? largest : holder, classMembers(heap).of(row)),
      )
      .map(({ kind, row, bytes, count, holder, largest }) => {
        const lists = holder < 0 ? undefined : listsBelow(heap, holder, classMembers(heap).of(row));
        const shown = lists?.fullest ?? holder;
        const held = shown < 0 ? '' : heldText(heap, shown, lists?.count);
        const place = sourceText(sourceOf(heap, kind.place));
        return suspectAt(context, 'large-class', shown < 0 ? largest : shown, bytes, {
          title: `${manyText(count, kind.name)} objects hold ${shareText(bytes, context)}`,
          sentence: `${manyText(count, 'objects')} of class ${kind.name}${place ? ` (constructor at ${place})` : ''} keep ${shareText(bytes, context)} alive, ${formatBytes(bytes / count)} each on average. If there are more in a later snapshot, whatever collects them${held} has no limit, or the wrong one.`,
          confidence: 'possible',
          evidence: [`${count} instances, retained together ${bytes} bytes of ${totalBytes}`],
          refutedBy: 'The number of instances stays the same between two snapshots (heap diff).',
        });
      });
  },
};

function heldText(heap: Heap, holder: number, lists: number | undefined): string {
  const which = `${describeNode(heap, holder)} at ${placeText(heap, holder)}`;
  return lists === undefined ? ` (${which})` : ` (${lists} containers, such as ${which})`;
}

/** Strings, code, arrays and plain objects without a kind are not classes of the program. */
function isProgramClass(name: string): boolean {
  return !/^\(|^(Object|Array|Function|Map|Set|Promise|Generator|RegExp|ArrayBuffer|Buffer)$|^system \/|^global|^Window/.test(
    name,
  );
}

/** Enough to tell whether most of a class are of a kind. */
const mostSamples = 1000;

/** Exports of modules: there are as many as the program has modules. */
function areExports(heap: Heap, row: number): boolean {
  const name = heap.snapshot.strings.findAscii('exports');
  if (name < 0) return false;
  const nodes = classMembers(heap).of(row);
  const step = Math.ceil(nodes.length / mostSamples);
  let exported = 0;
  let samples = 0;
  for (let at = 0; at < nodes.length; at += step, samples++)
    if (isExported(heap, nodes[at]!, name)) exported++;
  return exported * 2 > samples;
}

function isExported({ snapshot, retainers }: Heap, node: number, name: number): boolean {
  const { first, edges } = retainers;
  for (let row = first[node]!; row < first[node + 1]!; row++) {
    const edge = edges[row]!;
    const type = snapshot.edgeType(edge);
    if (
      snapshot.edges.nameOrIndex.get(edge) !== name ||
      type === EdgeType.element ||
      type === EdgeType.hidden
    )
      continue;
    if (snapshot.nodeName(retainers.sourceOf(edge)) === 'Module') return true;
  }
  return false;
}

/** Their common holder, or -1; and the largest of them. */
function holderOf(heap: Heap, row: number): { holder: number; largest: number } {
  const { type } = heap.snapshot.nodes;
  const members = classMembers(heap).of(row);
  const { isMixed, objects } = objectsAmong(type, members);
  const nodes = isMixed ? objects : members;
  return { holder: commonHolder(heap, nodes), largest: nodes.length ? largestOf(heap, nodes) : heap.root };
}

function objectsAmong(type: Uint8Array, members: Uint32Array): { isMixed: boolean; objects: Uint32Array } {
  const objects = new Uint32Array(members.length);
  let count = 0;
  for (let at = 0; at < members.length; at++)
    if (type[members[at]!] === NodeType.object) objects[count++] = members[at]!;
  return { isMixed: count > 0 && count < members.length, objects: objects.subarray(0, count) };
}
