/**
 * How much of the stack belongs to a frame, as its code and its function say. Between the lowest slot of a caller and its
 * callee's frame there are only the arguments that were passed, so the end of one frame shows where the next begins. Sources:
 * src/execution/frame-constants.h, src/codegen/safepoint-table.h and src/objects/code.h of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { V8Heap } from '../heap/heap.ts';
import { type CompiledCode, findCode } from './code.ts';

/** V8's code that runs bytecode in a frame of a script's function. */
export const runsBytecode = /^(?:BaselineOr)?Interpreter(?:EntryTrampoline|EnterAt)/;
/** Of `Code`'s flags in lines whose safepoint tables lack the number of slots. */
const stackSlotsShift = 5;
const stackSlotsMask = 0xff_ffff;
/** The saved frame pointer and the return address, which V8 counts as slots. */
const wordsAbove = 2;
/** Functions that V8 or C++ defines for any number of arguments declare 65,535. */
const anyNumber = 65_535;

interface Extent {
  programCounter: number;
  framePointer: number;
  /** Name of V8's built-in code, without `Builtins_`. */
  builtin?: string;
}

/** Address of the lowest slot that a frame of JavaScript has for itself; undefined if its code does not tell. */
export function findLowestSlot(heap: V8Heap, frame: Extent): number | undefined {
  return whereMapped(() => {
    const { framePointer, builtin } = frame;
    if (builtin) return runsBytecode.test(builtin) ? belowRegisters(heap, framePointer) : undefined;
    const compiled = findCode(heap, frame.programCounter);
    if (!compiled) return builtin === '' ? belowRegisters(heap, framePointer) : undefined;
    if (compiled.kind === 'baseline') return belowRegisters(heap, framePointer);
    return framePointer + 8 * (wordsAbove - slotsOf(heap, compiled));
  });
}

function slotsOf(heap: V8Heap, { code, start, size }: CompiledCode): number {
  const { memory, layout } = heap;
  if (layout.code.hasSlotsInTable) return memory.readUint32(start + size);
  return (memory.readUint32(code - 1 + layout.code.flags) >>> stackSlotsShift) & stackSlotsMask;
}

/** The registers of the interpreter, which baseline code uses too, are below the fixed slots. */
function belowRegisters(heap: V8Heap, framePointer: number): number | undefined {
  const { memory, layout } = heap;
  const array = memory.readWord(framePointer + layout.frame.bytecodeArray);
  if (!heap.isType(array, layout.types.bytecodeArray)) return undefined;
  const { fixedBytes, sizeField } = layout.interpreterFrame;
  return framePointer - fixedBytes - memory.readUint32(array - 1 + sizeField);
}

/**
 * How many words a caller passed to a function of JavaScript, the receiver and declared parameters that were not passed
 * included; undefined if the frame is not one.
 */
export function findPassedWords(heap: V8Heap, framePointer: number): number | undefined {
  return whereMapped(() => {
    const { memory, layout } = heap;
    const { frame, functionObject, shared } = layout;
    if (!heap.isContext(memory.readWord(framePointer + frame.context))) return undefined;
    const closure = memory.readWord(framePointer + frame.function);
    if (!heap.isFunction(closure)) return undefined;
    const info = heap.field(closure, functionObject.shared);
    if (!heap.isType(info, layout.types.shared)) return undefined;
    const declared = memory.readUint16(info - 1 + shared.parameterCount);
    const passed = Number(memory.readBigWord(framePointer + frame.argumentCount));
    return Math.max(passed, declared === anyNumber ? 0 : declared);
  });
}

/** Whether the address is in code that V8 compiled for a function. */
export const isCompiled = (heap: V8Heap, programCounter: number): boolean =>
  whereMapped(() => findCode(heap, programCounter)) !== undefined;
