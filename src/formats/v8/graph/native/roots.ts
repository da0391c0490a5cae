/**
 * References from outside of V8's heap that keep objects alive. Global handles are recognised by their layout: V8 allocates
 * them in blocks, in which each handle contains its own index. All other roots are found conservatively: words of the
 * isolate, of memory that it owns, and of the threads' stacks that point exactly to an object. Such a root may be a
 * coincidence, and is marked as a guess. Sources: src/handles/global-handles.cc, src/execution/isolate.h, src/heap/heap.h of
 * V8.
 */
import type { HeapObjects } from '../objects/heap-objects.ts';
import { findIsolateRoots } from './isolate-roots.ts';
import { inRanges, type Range } from './native-words.ts';
import type { RootGroup, RootReference, RootSources } from './root-sources.ts';

const handleBytes = 32;
const handlesOfBlock = 256;
const [normalHandle, weakHandle] = [1, 2];
const stateMask = 3;
const windowBytes = 1 << 20;

/** `buffers` and `isListed`: see `findIsolateRoots`. */
export function findRoots(
  objects: HeapObjects,
  sources: RootSources,
  buffers: ReadonlySet<number>,
  isListed: (type: number) => boolean,
): RootGroup[] {
  const handles = new HandleBlocks(objects, sources);
  return [
    { name: '(Global handles)', references: handles.references },
    { name: '(Stack roots, conservative)', references: stackRoots(objects, sources, handles) },
    {
      name: '(Isolate, conservative)',
      references: findIsolateRoots(objects, sources, (at) => handles.has(at), buffers, isListed),
    },
  ];
}

/** Blocks of 256 global handles. Each handle has an object, a class, its index in the block, and its state. */
class HandleBlocks {
  readonly references: RootReference[] = [];
  readonly #isIn: (address: number) => boolean;

  constructor(objects: HeapObjects, { memory, native }: RootSources) {
    const blocks: Range[] = [];
    for (const [start, end] of native)
      for (let at = start; at < end; at += windowBytes) {
        const length = Math.min(windowBytes + handleBytes * handlesOfBlock, end - at);
        const bytes = memory.peek(at, length) ?? memory.peek(at, Math.min(windowBytes, end - at));
        if (bytes) this.#search(bytes, at, objects, blocks);
      }
    this.#isIn = inRanges(blocks);
  }

  #search(bytes: Uint8Array, address: number, objects: HeapObjects, blocks: Range[]): void {
    const blockBytes = handleBytes * handlesOfBlock;
    for (let at = 0; at < windowBytes && at + blockBytes <= bytes.length; at += 8) {
      if (bytes[at + 10] !== 0 || bytes[at + 42] !== 1 || bytes[at + 74] !== 2 || bytes[at + 106] !== 3)
        continue;
      let i = 4;
      while (i < handlesOfBlock && bytes[at + i * handleBytes + 10] === i) i++;
      if (i < handlesOfBlock) continue;
      blocks.push([address + at, address + at + blockBytes]);
      this.#addBlock(new DataView(bytes.buffer, bytes.byteOffset + at, blockBytes), objects);
      at += blockBytes - 8;
    }
  }

  #addBlock(block: DataView, objects: HeapObjects): void {
    for (let at = 0; at < block.byteLength; at += handleBytes) {
      const state = block.getUint8(at + 11) & stateMask;
      if (state !== normalHandle && state !== weakHandle) continue;
      const target = objects.words.objectAt(block.getInt32(at, true), block.getInt32(at + 4, true));
      if (target >= 0) this.references.push({ target, isWeak: state === weakHandle });
    }
  }

  has(address: number): boolean {
    return this.#isIn(address);
  }
}

/** Objects that a stack refers to directly or through its handles: words of the native heap that point to objects. */
function stackRoots(objects: HeapObjects, sources: RootSources, handles: HandleBlocks): RootReference[] {
  const { memory, stacks, native } = sources;
  const isNative = inRanges(native);
  const found = new Set<number>();
  for (const [start, end] of stacks)
    for (let at = start; at + 8 <= end; at += 8) {
      const word = memory.findWord(at);
      if (word === undefined || word <= 4096) continue;
      const direct = word % 2 === 1 ? objects.words.objectFor(word) : -1;
      if (direct >= 0) found.add(direct);
      if (word % 8 !== 0 || !isNative(word) || handles.has(word)) continue;
      const handle = memory.findWord(word);
      const behind = handle !== undefined && handle % 4 === 1 ? objects.words.objectFor(handle) : -1;
      if (behind >= 0) found.add(behind);
    }
  return [...found].map((target) => ({ target, isWeak: false }));
}
