/**
 * JavaScript frames on a machine stack: maps a frame pointer within V8's code to the JavaScript frames that it represents.
 * Handles all four tiers: interpreter, baseline (Sparkplug), Maglev, and TurboFan with the functions inlined into it. Does
 * not walk the stack; the caller passes one physical frame at a time. Source: src/execution/frames.h and frame-constants.h of
 * V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import type { VirtualMemory } from '../virtual-memory.ts';
import { mayAssign } from './assigned-parameters.ts';
import {
  type BytecodeSizes,
  type CompiledCode,
  findBaselineOffset,
  findCode,
  findCompiledFunction,
  findInlinedPlaces,
  fitsBytecodes,
  startsBytecode,
} from './code.ts';
import {
  findTranslatedFrames,
  hasReturn,
  type TranslatedFrame,
  type TranslatedValues,
} from './deoptimization.ts';
import type { FunctionInfo, Functions } from './functions.ts';
import { findPosition, isWithin } from './positions.ts';
import type { LineColumn, Scripts } from './script.ts';
import type { TranslationOpcodes } from './translation-opcodes.ts';

export type Tier = 'interpreter' | 'baseline' | 'maglev' | 'turbofan' | 'builtin';

/** A frame of the machine stack that may be JavaScript. */
export interface PhysicalFrame {
  programCounter: number;
  framePointer: number;
  /** Name of V8's built-in code at the program counter, without `Builtins_`; empty if it has no name (stripped binary). */
  builtin?: string;
  /** The thread was stopped in this frame, so the program counter is not a return address. */
  isTop: boolean;
  /** For the top frame: register r9, which contains the interpreter's bytecode offset while a bytecode handler runs. */
  interpreterOffset?: number;
}

export interface JavaScriptFrame {
  tier: Tier;
  /** Inlined into the frame below; has no stack frame of its own. */
  isInlined: boolean;
  /** Called with `new`, if the compiled code records it. Otherwise the frame below on the stack shows it. */
  isConstructing?: boolean;
  function: FunctionInfo;
  /** This and the following fields are absent for an inlined frame whose values could not be confirmed. */
  closure?: Tagged;
  /** Offset in the script, if V8's tables could be read and are consistent. */
  position?: number;
  place?: LineColumn;
  receiver?: Tagged;
  /** The arguments that were passed, in order, with their current values; undefined if optimised away. */
  arguments?: (Tagged | undefined)[];
  /** The frame's own context, from which closure variables are read. */
  context?: Tagged;
  /** Why there is no source position. */
  problem?: string;
  /** Why this frame, or frames inlined into it, may be wrong or missing although there is a source position. */
  doubt?: string;
  /** The values that V8 recorded for an optimised frame contradict other facts about the frame, and were not used. */
  hasDoubtfulValues?: boolean;
}

/** Type of a V8 frame that is not JavaScript: `EntryFrame`, `ConstructFrame`… */
export interface InternalFrame {
  frameType: string;
}

/** Tables in V8's binary that no heap object refers to. Without a table, frames that depend on it have no source position. */
export interface BinaryTables {
  bytecodeSizes?: BytecodeSizes;
  translationOpcodes?: TranslationOpcodes;
}

/** What the stack contains of a frame, in any tier. */
interface Passed {
  closure: Tagged;
  context: Tagged;
  receiver: Tagged;
  arguments: Tagged[];
}

const misplaced = 'the position is in the middle of a word, so it is not trusted';
const misreadTables = 'the tables of the compiled code make no sense: functions inlined there may be missing';
const otherFunction = 'the compiled code is that of another function';
const otherBytecodes = 'the bytecode is that of another function';
const unnamed = "V8's own code has no names in this executable";
/** Whether the second of two characters begins a word, a number or a sign. V8 only notes such places. */
function startsToken(text: string): boolean {
  return !/^[\w$\u0080-\uffff]{2}$|\s$/.test(text);
}

const unknownFunction: FunctionInfo = { name: '', parameters: [] };
/** A call with more arguments than this spreads a large array. */
const maxArguments = 256;

/** Built-in functions that take any number of arguments declare 65,535. */
const plausible = (count: number) => (count >= 1 && count < 65_535 ? count : 1);

export class FrameReader {
  readonly #heap: V8Heap;
  readonly #functions: Functions;
  readonly #scripts: Scripts;
  readonly #binary: BinaryTables;
  readonly #virtual: VirtualMemory;
  readonly #positionTables = new Map<Tagged, Uint8Array | undefined>();

  /** `virtual`: the memory that `heap` reads from. */
  constructor(
    heap: V8Heap,
    functions: Functions,
    scripts: Scripts,
    binary: BinaryTables,
    virtual: VirtualMemory,
  ) {
    this.#heap = heap;
    this.#functions = functions;
    this.#scripts = scripts;
    this.#binary = binary;
    this.#virtual = virtual;
  }

  /**
   * JavaScript frames, innermost first, or an internal frame. Undefined if the frame is not V8's, or its slots have
   * unexpected contents.
   */
  find(frame: PhysicalFrame): JavaScriptFrame[] | InternalFrame | undefined {
    return whereMapped(() => this.#read(frame));
  }

  /** Whether optimised code names the address as one that a call of it returns to. */
  isReturn(programCounter: number): boolean {
    return (
      whereMapped(() => {
        const compiled = findCode(this.#heap, programCounter);
        return compiled !== undefined && hasReturn(this.#heap, compiled);
      }) ?? false
    );
  }

  #read(frame: PhysicalFrame): JavaScriptFrame[] | InternalFrame | undefined {
    const heap = this.#heap;
    const slots = heap.layout.frame;
    const marker = heap.memory.readWord(frame.framePointer + slots.context);
    const frameType = marker > 0 && marker < 256 ? heap.layout.frameTypes.get(marker / 2) : undefined;
    if (frameType) return { frameType };
    if (!heap.isContext(marker)) return undefined;
    const closure = heap.memory.readWord(frame.framePointer + slots.function);
    const info = this.#functions.ofClosure(closure);
    if (!info) return undefined;
    const onStack = { closure, context: marker, ...this.#readArguments(frame, closure) };
    return this.#readTier(frame, info, closure).map((part) =>
      part.isInlined ? part : this.#withStack(part, onStack),
    );
  }

  /**
   * Arguments remain on the stack as they were passed; only the translation has the values that optimised code assigned
   * since.
   */
  #withStack(part: JavaScriptFrame, onStack: Passed): JavaScriptFrame {
    if (part.closure === undefined) return { ...part, ...onStack };
    if (part.closure !== onStack.closure) return { ...part, ...onStack, hasDoubtfulValues: true };
    const { script, start = 0, end = 0, parameters } = part.function;
    let text: string | undefined;
    const passed = onStack.arguments.map((value, i) => {
      const now = part.arguments?.[i];
      if (now !== undefined) return now;
      text ??= script && this.#scripts.findText(script, start, end);
      return text !== undefined && mayAssign(text, parameters[i]) ? undefined : value;
    });
    return { ...part, receiver: part.receiver ?? onStack.receiver, arguments: passed };
  }

  /** Counts include the receiver. A declared parameter that was not passed has a slot too. */
  #readArguments({ framePointer }: PhysicalFrame, closure: Tagged): Pick<Passed, 'receiver' | 'arguments'> {
    const { memory, layout } = this.#heap;
    const passed = plausible(Number(memory.readBigWord(framePointer + layout.frame.argumentCount)));
    const shared = this.#heap.field(closure, layout.functionObject.shared);
    const declared = plausible(this.#declaredCount(shared));
    const count = Math.min(Math.max(passed, declared) - 1, maxArguments);
    const at = framePointer + layout.frame.receiver;
    const list: Tagged[] = [];
    for (let i = 1; i <= count; i++) list.push(memory.readWord(at + 8 * i));
    return { receiver: memory.readWord(at), arguments: list };
  }

  #declaredCount(shared: Tagged): number {
    return this.#heap.memory.readUint16(shared - 1 + this.#heap.layout.shared.parameterCount);
  }

  #readTier(frame: PhysicalFrame, info: FunctionInfo, closure: Tagged): JavaScriptFrame[] {
    const single = (tier: Tier, position: number | undefined, problem?: string) => [
      this.#place({ tier, isInlined: false, function: info }, position, problem),
    ];
    if (!info.script) return [{ tier: 'builtin', isInlined: false, function: info }];
    if (frame.builtin !== undefined) {
      if (frame.builtin === '' && frame.isTop) return single('builtin', undefined, unnamed);
      if (
        /^Interpreter|Handler$|^Baseline/.test(frame.builtin) ||
        (frame.builtin === '' && this.#bytecodes(frame))
      ) {
        const offset = this.#interpreterOffset(frame);
        return this.#doubtBytecodes(
          single('interpreter', this.#bytecodePosition(frame, offset, info)),
          frame,
          closure,
        );
      }
      return single('builtin', undefined, frame.builtin ? `it is in V8's ${frame.builtin}` : unnamed);
    }
    const compiled = findCode(this.#heap, frame.programCounter);
    if (!compiled) return single('turbofan', undefined, 'the code of this frame is not in the core');
    if (compiled.kind === 'baseline') {
      const bytecodes = this.#bytecodes(frame);
      const sizes = this.#binary.bytecodeSizes;
      const offset = bytecodes && sizes && findBaselineOffset(this.#heap, compiled, bytecodes.bytes, sizes);
      return this.#doubtBytecodes(
        single('baseline', this.#bytecodePosition(frame, offset, info)),
        frame,
        closure,
      );
    }
    const translated = frame.isTop ? [] : this.#translated(compiled, frame.framePointer);
    const parts = translated?.length ? translated : this.#inlined(frame, compiled, info);
    const doubt = translated ? this.#doubtOf(compiled, closure) : misreadTables;
    return doubt === undefined ? parts : parts.map((part) => ({ ...part, doubt }));
  }

  /** A frame's bytecode is that of its function. A debugger gives a function a copy. */
  #doubtBytecodes(parts: JavaScriptFrame[], frame: PhysicalFrame, closure: Tagged): JavaScriptFrame[] {
    const heap = this.#heap;
    const shared = heap.field(closure, heap.layout.functionObject.shared);
    const own = this.#functions.findBytecodes(shared);
    const used = this.#bytecodes(frame)?.array;
    if (own === undefined || used === own || this.#functions.isDebugged(shared)) return parts;
    return parts.map((part) => ({ ...part, doubt: otherBytecodes }));
  }

  /** Compares the function that the code was compiled for with the frame's closure. */
  #doubtOf({ code }: CompiledCode, closure: Tagged): string | undefined {
    const compiled = whereMapped(() => findCompiledFunction(this.#heap, code));
    if (compiled === undefined) return undefined;
    const own = this.#heap.field(closure, this.#heap.layout.functionObject.shared);
    return this.#functions.unwrapShared(compiled) === own ? undefined : otherFunction;
  }

  /** The frames that V8 would deoptimise to here, which is also the source of V8's own stack traces. */
  #translated(compiled: CompiledCode, framePointer: number): JavaScriptFrame[] | undefined {
    const opcodes = this.#binary.translationOpcodes;
    if (!opcodes) return undefined;
    const from = { heap: this.#heap, virtual: this.#virtual, opcodes };
    const frames = findTranslatedFrames(from, compiled, framePointer);
    return frames?.map((frame, i) => this.#translatedFrame(frame, compiled.kind, i < frames.length - 1));
  }

  #translatedFrame(
    { literal, bytecodeOffset, isConstructing, values }: TranslatedFrame,
    tier: Tier,
    isInlined: boolean,
  ): JavaScriptFrame {
    const shared = this.#functions.unwrapShared(literal);
    const info = this.#functions.ofShared(shared) ?? unknownFunction;
    if (bytecodeOffset === undefined) return { tier: 'builtin', isInlined, isConstructing, function: info };
    const bytecodes = this.#functions.findBytecodes(shared);
    const position = bytecodes && this.#positionAt(bytecodes, Math.max(0, bytecodeOffset), info);
    const placed = this.#place({ tier, isInlined, isConstructing, function: info }, position);
    const confirmed = values && this.#confirm(values, shared);
    return confirmed ? { ...placed, ...confirmed } : { ...placed, hasDoubtfulValues: true };
  }

  /**
   * The closure must belong to the frame's function, the context must be a context, the number of declared parameters must
   * match, and each parameter must be a valid value.
   */
  #confirm(
    { function: closure, parameters, declared, context }: TranslatedValues,
    shared: Tagged,
  ): Pick<JavaScriptFrame, 'closure' | 'context' | 'receiver' | 'arguments'> | undefined {
    const heap = this.#heap;
    const { functionObject } = heap.layout;
    if (closure === undefined || !heap.isFunction(closure)) return undefined;
    if (heap.field(closure, functionObject.shared) !== shared) return undefined;
    if (this.#declaredCount(shared) !== declared) return undefined;
    if (context !== undefined && !heap.isContext(context)) return undefined;
    const isValue = (value: Tagged | undefined) =>
      value === undefined ||
      heap.isSmi(value) ||
      heap.findType(value) !== undefined ||
      this.#virtual.findNote(value) !== undefined;
    if (!parameters.every(isValue)) return undefined;
    const [receiver, ...passed] = parameters;
    return {
      closure,
      arguments: passed,
      ...(context === undefined ? {} : { context }),
      ...(receiver === undefined ? {} : { receiver }),
    };
  }

  /** Uses the last row of the source position table at or before the program counter. */
  #inlined(
    frame: PhysicalFrame,
    { kind, code, offset }: CompiledCode,
    info: FunctionInfo,
  ): JavaScriptFrame[] {
    const places = findInlinedPlaces(this.#heap, code, frame.isTop ? offset : offset - 1);
    const outer = { tier: kind, isInlined: false, function: info };
    if (!places) return [{ ...outer, problem: 'its table of positions could not be read' }];
    return places.map(({ literal, position }) => {
      if (literal === undefined) return this.#place(outer, position);
      const inlined = this.#functions.ofShared(this.#functions.unwrapShared(literal));
      const part = { tier: kind, isInlined: true, function: inlined ?? unknownFunction };
      return this.#place(part, position, inlined ? undefined : 'an unknown function');
    });
  }

  #place(part: JavaScriptFrame, position: number | undefined, problem?: string): JavaScriptFrame {
    const { script, start, end } = part.function;
    const isInside =
      position !== undefined && position >= 0 && position >= (start ?? 0) && position <= (end ?? position);
    if (!isInside || !script)
      return {
        ...part,
        problem: problem ?? 'the position does not lie in the function, so it is not trusted',
      };
    const place = this.#scripts.findPlace(script, position);
    if (!place) return { ...part, position, problem: "the script's text is not in the core" };
    const text = this.#scripts.findText(script, Math.max(0, position - 1), position + 1);
    if (text !== undefined && position > 0 && !startsToken(text)) return { ...part, problem: misplaced };
    return { ...part, position, place };
  }

  /** At a return address in the interpreter the offset was saved to the frame; otherwise a bytecode handler is running. */
  #interpreterOffset(frame: PhysicalFrame): number | undefined {
    const { memory, layout } = this.#heap;
    const header = layout.bytecode.data - 1;
    if (frame.isTop && frame.builtin?.endsWith('Handler') && frame.interpreterOffset !== undefined)
      return frame.interpreterOffset - header;
    const saved = memory.readWord(frame.framePointer + layout.frame.bytecodeOffset);
    return this.#heap.isSmi(saved) ? Math.max(0, this.#heap.smi(saved) - header) : undefined;
  }

  #bytecodePosition(
    frame: PhysicalFrame,
    offset: number | undefined,
    info: FunctionInfo,
  ): number | undefined {
    const bytecodes = this.#bytecodes(frame);
    if (offset === undefined || !bytecodes || offset > bytecodes.length) return undefined;
    const sizes = this.#binary.bytecodeSizes;
    if (sizes && !startsBytecode(bytecodes.bytes, offset, sizes)) return undefined;
    return this.#positionAt(bytecodes.array, offset, info);
  }

  #positionAt(bytecodes: Tagged, offset: number, info: FunctionInfo): number | undefined {
    const table = this.#positionsOf(bytecodes, info);
    return table && findPosition(table, offset, this.#heap.layout.positions.unsignedDeltas)?.position;
  }

  /** Undefined for a table that does not fit its bytecodes or its function. */
  #positionsOf(bytecodes: Tagged, info: FunctionInfo): Uint8Array | undefined {
    const heap = this.#heap;
    const { positions, bytecode } = heap.layout;
    if (!this.#positionTables.has(bytecodes)) {
      const table = heap.findByteArray(heap.field(bytecodes, bytecode.positions));
      const sizes = this.#binary.bytecodeSizes;
      const bytes = this.#bytesOf(bytecodes);
      const fits =
        !table ||
        (isWithin(table, positions.unsignedDeltas, info) &&
          (!sizes || (bytes && fitsBytecodes(table, positions.unsignedDeltas, bytes, sizes))));
      this.#positionTables.set(bytecodes, fits ? table : undefined);
    }
    return this.#positionTables.get(bytecodes);
  }

  #bytesOf(array: Tagged): Uint8Array | undefined {
    const { bytecode } = this.#heap.layout;
    const length = this.#heap.findSmi(array, bytecode.length);
    if (length === undefined || length < 0) return undefined;
    return this.#heap.memory.readBytes(array - 1 + bytecode.data, length);
  }

  #bytecodes(frame: PhysicalFrame): { array: Tagged; length: number; bytes: Uint8Array } | undefined {
    const heap = this.#heap;
    const array = heap.memory.readWord(frame.framePointer + heap.layout.frame.bytecodeArray);
    const bytes = heap.isType(array, heap.layout.types.bytecodeArray) ? this.#bytesOf(array) : undefined;
    return bytes && { array, length: bytes.length, bytes };
  }
}
