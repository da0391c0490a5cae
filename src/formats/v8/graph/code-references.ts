/** References of compiled code: its metadata objects, and the objects that are operands of its instructions. */
import type { ObjectCursor } from './object-cursor.ts';
import { Edge } from './object-kinds.ts';

/** `mov register, 64 bits`: prefix and opcode, without the register bits. */
const [prefix, prefixMask, opcode, opcodeMask] = [0x48, 0xfe, 0xb8, 0xf8];
const moveBytes = 10;
/** Since this line V8's profiler names the reference to the instructions. */
const linesOfStreams = 1200;

export class CodeReader {
  readonly #at: ObjectCursor;

  constructor(at: ObjectCursor) {
    this.#at = at;
  }

  visitCode(): void {
    const { heap, objects, object } = this.#at;
    const { code } = heap.layout;
    const flags = heap.memory.readUint32(objects.pointer(object) - 1 + code.flags);
    const isBaseline = (flags & code.kindMask) === code.baseline;
    if (this.#at.targetAt(code.stream / 8) < 0) return;
    if (heap.layout.line >= linesOfStreams) this.#at.internal(code.stream / 8, 'instruction_stream');
    this.#at.internal(code.deoptimizationData / 8, isBaseline ? 'interpreter_data' : 'deoptimization_data');
    this.#at.internal(code.positions / 8, isBaseline ? 'bytecode_offset_table' : 'source_position_table');
  }

  visitInstructions(): void {
    const { heap, objects, object, words, names } = this.#at;
    const start = heap.layout.code.streamStart;
    this.#at.rest(Math.min(start / 8, words));
    const length = words * 8 - start;
    const bytes = length > 0 ? heap.memory.peek(objects.pointer(object) - 1 + start, length) : undefined;
    if (!bytes) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let index = 0;
    for (let at = 0; at + moveBytes <= bytes.length; at++) {
      if ((bytes[at]! & prefixMask) !== prefix || (bytes[at + 1]! & opcodeMask) !== opcode) continue;
      const target = objects.words.objectAt(view.getInt32(at + 2, true), view.getInt32(at + 6, true));
      if (target < 0 || !this.#at.isEssential(target)) continue;
      const isWeak = this.#isWeakInCode(target);
      this.#at.emit(isWeak ? Edge.weak : Edge.hidden, isWeak ? names.ofIndex(index) : index, target);
      index++;
    }
  }

  /** Optimised code is discarded when such an object dies. */
  #isWeakInCode(target: number): boolean {
    const { types } = this.#at.heap.layout;
    const type = this.#at.objects.typeOf(target);
    const isContext = type >= types.context[0] && type <= types.context[1];
    return type === types.map || type === types.propertyCell || isContext || this.#at.kinds.isJsObject(type);
  }
}
