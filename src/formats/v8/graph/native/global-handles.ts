/**
 * Global handles, with which C++ keeps objects alive. V8 allocates them in blocks, in which each handle contains its own index, so
 * that they are recognised by their layout. Source: src/handles/global-handles.cc of V8.
 */
import type { HeapObjects } from '../objects/heap-objects.ts';
import { inRanges, type Range } from './native-words.ts';
import type { RootReference, RootSources } from './root-sources.ts';

const handleBytes = 32;
const handlesOfBlock = 256;
const [normalHandle, weakHandle] = [1, 2];
const stateMask = 3;
const windowBytes = 1 << 20;
const emptyBytes = 4096;
/** The second handle of a block is no more than this behind its start, and has an index that is not 0. */
const secondHandle = 48;
const zeros = Buffer.alloc(emptyBytes);
const isEmpty = (bytes: Uint8Array, at: number): boolean =>
  zeros.compare(bytes, at, Math.min(bytes.length, at + emptyBytes)) === 0;

/** Blocks of 256 global handles. Each handle has an object, a class, its index in the block, and its state. */
export class HandleBlocks {
  readonly references: RootReference[] = [];
  readonly #isIn: (address: number) => boolean;

  constructor(objects: HeapObjects, { memory, native }: RootSources) {
    const blocks: Range[] = [];
    const room = new Uint8Array(windowBytes + handleBytes * handlesOfBlock);
    const peek = (at: number, length: number) => memory.peek(at, length, room.subarray(0, length));
    for (const [start, end] of native)
      for (let at = start; at < end; at += windowBytes) {
        const length = Math.min(windowBytes + handleBytes * handlesOfBlock, end - at);
        const bytes = peek(at, length) ?? peek(at, Math.min(windowBytes, end - at));
        if (bytes) this.#search(bytes, at, objects, blocks);
      }
    this.#isIn = inRanges(blocks);
  }

  #search(bytes: Uint8Array, address: number, objects: HeapObjects, blocks: Range[]): void {
    const blockBytes = handleBytes * handlesOfBlock;
    for (let at = 0; at < windowBytes && at + blockBytes <= bytes.length; at += 8) {
      // Most reserved memory was never written to. A block that starts at the end of such a part is still found.
      if (at % emptyBytes === 0 && isEmpty(bytes, at)) at += emptyBytes - secondHandle;
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
