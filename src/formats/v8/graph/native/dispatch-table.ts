/**
 * The table that maps functions to their code since V8 13. A function contains a handle; the row of that handle contains the
 * address of the code in its upper 48 bits, and the parameter count. The table is found by its contents: for each function,
 * the row refers to a code object and has the function's parameter count. Source: src/sandbox/js-dispatch-table.h of V8.
 */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import type { V8Heap } from '../../heap/heap.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';

const rowBytes = 16;
const handleWord = 3;
/** A function's handle is its row number, shifted left. */
const shift = 8;
/** The first segments of the table are sealed, which makes them a separate memory mapping. */
const segmentBytes = 1 << 16;
const maxSealed = 8;
const samples = 64;
const leastSamples = 8;
/** Objects that are looked at for more than the least number of samples: most heaps have few functions. */
const mostLooked = 1 << 18;

export class DispatchTable {
  readonly #memory: MemoryReader;
  readonly #objects: HeapObjects;
  readonly #code: number;
  #base = 0;
  /** By row, for the kernel: the code plus two, one for none. */
  readonly #codes: Uint32Array | undefined;

  constructor(
    heap: V8Heap,
    objects: HeapObjects,
    native: readonly (readonly [start: number, end: number])[],
  ) {
    this.#memory = heap.memory;
    this.#objects = objects;
    this.#code = heap.layout.types.code;
    const { kernel } = objects.words;
    this.#codes = kernel?.words('codes', kernel.code.codeRoom.value);
    const functions = functionsOf(heap, objects);
    if (functions.length < leastSamples) return;
    for (const [start] of native)
      for (let sealed = 0; sealed <= maxSealed; sealed++) {
        const base = start - sealed * segmentBytes;
        if (!functions.every((each) => this.#isRowOf(base + (each.handle >>> shift) * rowBytes, each)))
          continue;
        this.#base = base;
        return;
      }
  }

  /** The code of a function; -1 if functions have no handle, or the table was not found. */
  codeOf(func: number): number {
    if (this.#base === 0) return -1;
    const row = (this.#objects.words.low(func + handleWord) >>> 0) >>> shift;
    const code = this.#codeAt(this.#base + row * rowBytes);
    if (this.#codes && row < this.#codes.length) this.#codes[row] = code + 2;
    return code;
  }

  get isFound(): boolean {
    return this.#base !== 0;
  }

  #isRowOf(row: number, { parameters }: NumberedFunction): boolean {
    return this.#codeAt(row) >= 0 && this.#memory.readUint16(row + 8) === parameters;
  }

  #codeAt(row: number): number {
    if (!this.#memory.has(row, rowBytes)) return -1;
    const high = this.#memory.readUint32(row + 12);
    const low = this.#memory.readUint32(row + 8);
    const found = this.#objects.words.objectFor(Math.floor((high * 2 ** 16 + (low >>> 16)) / 2) * 2 + 1);
    return found >= 0 && this.#objects.typeOf(found) === this.#code ? found : -1;
  }
}

interface NumberedFunction {
  handle: number;
  parameters: number;
}

/** A sample of functions from all over the heap; empty if functions point to their code directly. */
function functionsOf(heap: V8Heap, objects: HeapObjects): NumberedFunction[] {
  const [first, last] = heap.layout.types.function;
  const { functionObject, shared } = heap.layout;
  const found: NumberedFunction[] = [];
  const step = Math.max(1, Math.floor(objects.firstReadOnly / (samples * 8)));
  const isFunction = (object: number) => {
    const type = objects.typeOf(object);
    return type >= first && type <= last;
  };
  let looked = 0;
  const isEnough = () => looked > mostLooked && found.length >= leastSamples;
  for (let from = 0; found.length < samples && !isEnough(); ) {
    let at = objects.next(from);
    for (; at >= 0 && !isFunction(at) && !isEnough(); looked++) at = objects.next(at + 1);
    if (at < 0 || !isFunction(at)) break;
    from = at + step;
    const slot = at + handleWord;
    if (objects.words.high(slot) !== 0 && objects.target(at, handleWord) >= 0) return [];
    const handle = objects.words.low(slot) >>> 0;
    const info = objects.target(at, functionObject.shared / 8);
    if (handle > 0 && info >= 0)
      found.push({
        handle,
        parameters: heap.memory.readUint16(objects.pointer(info) - 1 + shared.parameterCount),
      });
  }
  return found;
}
