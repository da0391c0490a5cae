/**
 * What optimised code would turn into if it were deoptimised at a call: the functions that were inlined there, and
 * the bytecode each was at. V8 builds its own stack traces from this, so it is exact where the table of source
 * positions has no row for a call. Sources: src/objects/deoptimization-data.h,
 * src/deoptimizer/frame-translation-builder.cc and translation-opcode.h of V8.
 */
import type { CompiledCode } from './code.ts';
import type { Tagged, V8Heap } from './heap.ts';
import { VlqReader } from './positions.ts';
import { findDeoptimizationIndex } from './safepoints.ts';

export interface TranslatedFrame {
  /** SharedFunctionInfo, or its wrapper. */
  literal: Tagged;
  /** Of the bytecode; -1 at the function's entry; undefined for a built-in function that was inlined. */
  bytecodeOffset?: number;
  /** Called by `new`. */
  isConstructing: boolean;
}

/** Opcodes of frame translations in one line of V8; how many operands each has is a table in the binary. */
export interface TranslationOpcodes {
  operandCounts: number[];
  begin: readonly number[];
  interpretedFrames: readonly number[];
  builtinFrames: readonly number[];
  constructFrames: readonly number[];
}

const entryWords = 3;
/** Slots from the inlining positions to the first entry: where the exits start and how many of each kind. */
const slotsBeforeEntries = 4;
const maxFrames = 256;
const maxOperations = 100_000;

/** The innermost frame first. Undefined where the code cannot be deoptimised at this return address. */
export function findTranslatedFrames(
  heap: V8Heap,
  { kind, code, start: instructions, size, offset }: CompiledCode,
  opcodes: TranslationOpcodes,
): TranslatedFrame[] | undefined {
  const { fixedArray, deoptimization } = heap.layout;
  const data = heap.field(code, heap.layout.code.deoptimizationData);
  const count = heap.isPointer(data) ? heap.findSmi(data, fixedArray.length) : undefined;
  const table = {
    start: instructions + size,
    headerBytes: heap.layout.code.safepointHeader,
    isMaglev: kind === 'maglev',
    instructionSize: size,
  };
  const index = findDeoptimizationIndex(heap.memory, table, offset);
  if (count === undefined || index === undefined) return undefined;
  const slot = (at: number) => heap.field(data, fixedArray.data + at * 8);
  const entry = deoptimization.inliningPositions + slotsBeforeEntries + index * entryWords;
  if (entry + entryWords > count) return undefined;
  const bytes = heap.findByteArray(slot(0));
  const start = heap.smi(slot(entry + 1));
  const literals = slot(deoptimization.literals);
  if (!bytes || !(start >= 0 && start < bytes.length) || !heap.isPointer(literals)) return undefined;
  const frames = decodeFrames(bytes, start, opcodes);
  const literalCount = heap.findSmi(literals, fixedArray.length) ?? 0;
  return frames
    ?.map(({ literal, ...frame }) => ({
      ...frame,
      literal:
        literal >= 0 && literal < literalCount ? heap.field(literals, fixedArray.data + literal * 8) : 0,
    }))
    .reverse();
}

type DecodedFrame = Omit<TranslatedFrame, 'literal'> & { literal: number };

/** Frames of the translation that starts at `start`, the outermost first. */
function decodeFrames(
  bytes: Uint8Array,
  start: number,
  opcodes: TranslationOpcodes,
): DecodedFrame[] | undefined {
  const reader = new TranslationReader(bytes, start, opcodes);
  const wanted = reader.begin();
  if (wanted === undefined || wanted < 1 || wanted > maxFrames) return undefined;
  const frames: DecodedFrame[] = [];
  let isConstructing = false;
  for (let i = 0; i < maxOperations && frames.length < wanted; i++) {
    const operation = reader.next();
    if (!operation) return undefined;
    const [first = 0, literal = -1] = operation.operands;
    if (opcodes.constructFrames.includes(operation.opcode)) isConstructing = true;
    const isInterpreted = opcodes.interpretedFrames.includes(operation.opcode);
    if (!isInterpreted && !opcodes.builtinFrames.includes(operation.opcode)) continue;
    const frame = { literal: signed(literal), isConstructing };
    frames.push(isInterpreted ? { ...frame, bytecodeOffset: signed(first) } : frame);
    isConstructing = false;
  }
  return frames.length === wanted ? frames : undefined;
}

/** The sign is the lowest bit, without the zig-zag of position tables. */
const signed = (value: number) => (value % 2 === 0 ? value / 2 : -(value - 1) / 2);

interface Operation {
  opcode: number;
  operands: number[];
}

/** A translation may say "the next n operations are those of an earlier translation": its basis. */
class TranslationReader {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #opcodes: TranslationOpcodes;
  #own: VlqReader;
  #basis: VlqReader | undefined;
  /** Operations that were read from the basis, or skipped in it. */
  #basisIndex = 0;
  #index = 0;
  #matching = 0;

  constructor(bytes: Uint8Array, start: number, opcodes: TranslationOpcodes) {
    this.#bytes = bytes;
    this.#start = start;
    this.#opcodes = opcodes;
    this.#own = new VlqReader(bytes.subarray(start));
  }

  /** How many JavaScript frames follow. */
  begin(): number | undefined {
    const [lookback = 0, , frames = 0] = this.#readBegin(this.#own) ?? [];
    if (lookback > this.#start) return undefined;
    if (lookback > 0) {
      this.#basis = new VlqReader(this.#bytes.subarray(this.#start - lookback));
      if (!this.#readBegin(this.#basis)) return undefined;
    }
    return signed(frames);
  }

  next(): Operation | undefined {
    const operation = this.#matching > 0 ? this.#fromBasis() : this.#fromOwn();
    this.#index++;
    return operation;
  }

  #readBegin(reader: VlqReader): number[] | undefined {
    const operation = this.#read(reader);
    return operation && this.#opcodes.begin.includes(operation.opcode) ? operation.operands : undefined;
  }

  #fromOwn(): Operation | undefined {
    const { operandCounts } = this.#opcodes;
    const matchPrevious = operandCounts.length - 1;
    const opcode = this.#own.byte();
    if (opcode === undefined) return undefined;
    if (opcode < matchPrevious) return this.#operands(this.#own, opcode);
    // The short form: the count stands in the opcode itself.
    this.#matching = opcode === matchPrevious ? this.#own.unsigned() : opcode - operandCounts.length;
    return this.#fromBasis();
  }

  #fromBasis(): Operation | undefined {
    this.#matching--;
    if (!this.#basis) return undefined;
    for (; this.#basisIndex < this.#index; this.#basisIndex++) if (!this.#read(this.#basis)) return undefined;
    this.#basisIndex++;
    return this.#read(this.#basis);
  }

  #read(reader: VlqReader): Operation | undefined {
    const opcode = reader.byte();
    return opcode === undefined ? undefined : this.#operands(reader, opcode);
  }

  #operands(reader: VlqReader, opcode: number): Operation | undefined {
    const count = this.#opcodes.operandCounts[opcode];
    if (count === undefined) return undefined;
    const operands: number[] = [];
    for (let i = 0; i < count; i++) operands.push(reader.unsigned());
    return reader.isBroken ? undefined : { opcode, operands };
  }
}
