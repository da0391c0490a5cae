/**
 * Compiled code in a dead V8: finds the code that contains a program counter, and the source position of that program
 * counter. Baseline code maps to bytecode; optimised code (Maglev, TurboFan) maps to source directly, through the calls that
 * were inlined into it. Sources: src/objects/code.tq, src/codegen/source-position.h, src/baseline/bytecode-offset-iterator.cc
 * of V8.
 */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { decodePositions, findPosition, VlqReader } from './positions.ts';

export type CodeKind = 'baseline' | 'maglev' | 'turbofan';

export interface CompiledCode {
  kind: CodeKind;
  code: Tagged;
  /** Address of the first instruction, and the size of the instructions in bytes. */
  start: number;
  size: number;
  /** Bytes from the first instruction to the program counter. */
  offset: number;
}

/** A source position within optimised code; the innermost inlined call comes first. */
export interface InlinedPlace {
  /** SharedFunctionInfo, or its wrapper; undefined for the outermost function, the one that was compiled. */
  literal?: Tagged;
  position: number;
}

/** The code of one function has at most a few MB. */
const maxScanBytes = 8 << 20;
const maxInlining = 256;

/** Finds the Code object that contains the instruction, by scanning backwards for its header. */
export function findCode(heap: V8Heap, programCounter: number): CompiledCode | undefined {
  const { types, code } = heap.layout;
  const last = programCounter - code.streamStart;
  for (let at = last - (last % 8); at > programCounter - maxScanBytes; at -= 8) {
    const map = heap.memory.findWord(at);
    if (map === undefined) return undefined;
    if (heap.findMapType(map) !== types.instructionStream) continue;
    const found = code.streamCode === undefined ? at + 1 : heap.field(at + 1, code.streamCode);
    if (!heap.isType(found, types.code)) continue;
    const offset = programCounter - (at + code.streamStart);
    const size = heap.memory.readUint32(found - 1 + code.instructionSize);
    const kind = kindOf(heap, found);
    const start = at + code.streamStart;
    return offset <= size && kind ? { kind, code: found, start, size, offset } : undefined;
  }
  return undefined;
}

function kindOf(heap: V8Heap, code: Tagged): CodeKind | undefined {
  const { flags, kindMask, baseline } = heap.layout.code;
  const kind = (heap.memory.readUint32(code - 1 + flags) & kindMask) - baseline;
  return (['baseline', 'maglev', 'turbofan'] as const)[kind];
}

/** Offset of the bytecode that baseline code was executing; -1 in its prologue. */
export function findBaselineOffset(
  heap: V8Heap,
  compiled: CompiledCode,
  bytecodes: Uint8Array,
  sizes: BytecodeSizes,
): number | undefined {
  const table = heap.findByteArray(heap.field(compiled.code, heap.layout.code.positions));
  if (!table) return undefined;
  const reader = new VlqReader(table);
  let end = reader.unsigned();
  let next = 0;
  let current = -1;
  while (end < compiled.offset) {
    if (reader.atEnd || reader.isBroken || next >= bytecodes.length) return undefined;
    end += reader.unsigned();
    current = next;
    next += sizes.at(bytecodes, next);
  }
  return current;
}

/** Lengths of bytecodes, from the table in the binary: one row for each operand width. */
export class BytecodeSizes {
  readonly #table: Uint8Array;
  readonly #count: number;

  constructor(table: Uint8Array) {
    this.#table = table;
    this.#count = Math.floor(table.length / 3);
  }

  /** Length of the bytecode at an offset, including its Wide (0) or ExtraWide (1) prefix. */
  at(bytecodes: Uint8Array, offset: number): number {
    const first = bytecodes[offset] ?? 0;
    if (first > 1) return this.#size(0, first);
    return 1 + this.#size(first + 1, bytecodes[offset + 1] ?? 0);
  }

  #size(scale: number, bytecode: number): number {
    return Math.max(1, this.#table[scale * this.#count + bytecode] ?? 1);
  }
}

/**
 * Source positions are attached to bytecode boundaries. A table that is decoded with the rules of another V8 has entries in
 * the middle of a bytecode.
 */
export function fitsBytecodes(
  table: Uint8Array,
  unsignedDeltas: boolean,
  bytecodes: Uint8Array,
  sizes: BytecodeSizes,
): boolean {
  let at = 0;
  for (const { codeOffset } of decodePositions(table, unsignedDeltas)) {
    if (codeOffset < 0) continue;
    while (at < codeOffset && at < bytecodes.length) at += sizes.at(bytecodes, at);
    if (at !== codeOffset || at >= bytecodes.length) return false;
  }
  return true;
}

/** Whether a bytecode is at the offset, or behind its prefix: V8 saves either. */
export function startsBytecode(bytecodes: Uint8Array, offset: number, sizes: BytecodeSizes): boolean {
  let at = 0;
  while (at < offset) {
    if (at + 1 === offset && (bytecodes[at] ?? 0) <= 1) return true;
    at += sizes.at(bytecodes, at);
  }
  return at === offset;
}

/** SharedFunctionInfo of the function that was compiled, or its wrapper; undefined if the code does not record it. */
export function findCompiledFunction(heap: V8Heap, code: Tagged): Tagged | undefined {
  const data = heap.field(code, heap.layout.code.deoptimizationData);
  const { deoptimization, fixedArray } = heap.layout;
  const count = heap.isPointer(data) ? heap.findSmi(data, fixedArray.length) : undefined;
  if (count === undefined || count <= deoptimization.shared) return undefined;
  return heap.field(data, fixedArray.data + deoptimization.shared * 8);
}

/** Undefined if the tables can't be read. `codeOffset` is the offset of the call: that of the return address minus one. */
export function findInlinedPlaces(
  heap: V8Heap,
  code: Tagged,
  codeOffset: number,
): InlinedPlace[] | undefined {
  const { layout } = heap;
  const table = heap.findByteArray(heap.field(code, layout.code.positions));
  const place = table && findPosition(table, codeOffset, layout.positions.unsignedDeltas);
  if (!place) return undefined;
  const places: InlinedPlace[] = [];
  let { position, inliningId } = place;
  while (inliningId >= 0) {
    const call = findInliningPosition(heap, code, inliningId);
    if (!call || places.length >= maxInlining) return undefined;
    places.push({ literal: call.literal, position });
    ({ position, inliningId } = call);
  }
  places.push({ position });
  return places;
}

/** A row of InliningPositions is 16 bytes: the position of the call as 64 bits, then the literal of the inlined function. */
function findInliningPosition(
  heap: V8Heap,
  code: Tagged,
  row: number,
): { literal: Tagged; position: number; inliningId: number } | undefined {
  const { deoptimization, fixedArray } = heap.layout;
  const data = heap.field(code, heap.layout.code.deoptimizationData);
  if (!heap.isPointer(data)) return undefined;
  const slot = (index: number) => heap.field(data, fixedArray.data + index * 8);
  const table = heap.findByteArray(slot(deoptimization.inliningPositions));
  const literals = slot(deoptimization.literals);
  if (!table || table.length < (row + 1) * 16 || !heap.isPointer(literals)) return undefined;
  const view = new DataView(table.buffer, table.byteOffset);
  const low = view.getUint32(row * 16, true);
  const high = view.getUint32(row * 16 + 4, true);
  const id = view.getInt32(row * 16 + 8, true);
  const count = heap.findSmi(literals, fixedArray.length) ?? 0;
  if (id < 0 || id >= count) return undefined;
  const raw = high * 2 ** 32 + low;
  return {
    literal: heap.field(literals, fixedArray.data + id * 8),
    position: (Math.floor(raw / 2) % 2 ** 30) - 1,
    inliningId: Math.floor(raw / 2 ** 31) - 1,
  };
}
