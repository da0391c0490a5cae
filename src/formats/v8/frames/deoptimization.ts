/**
 * What optimised code would be turned into if it were deoptimised at a call: the functions that were inlined there, the
 * bytecode offset of each, and the values of each. V8 builds its own stack traces from this data, so it is exact where the
 * source position table has no row for a call. Sources: src/objects/deoptimization-data.h and
 * src/deoptimizer/translated-state.cc of V8.
 */

import type { Tagged, V8Heap } from '../heap/heap.ts';
import type { VirtualMemory } from '../virtual-memory.ts';
import type { CompiledCode } from './code.ts';
import { findDeoptimizationIndex, noDeoptimization } from './safepoints.ts';
import { nestValue, type TranslatedValue, ValueResolver } from './translated-values.ts';
import type { TranslationOpcodes } from './translation-opcodes.ts';
import { type Operation, signed, TranslationReader } from './translation-reader.ts';

export interface TranslatedFrame {
  /** SharedFunctionInfo, or its wrapper. */
  literal: Tagged;
  /** Offset of the bytecode; -1 at function entry; undefined for an inlined built-in function. */
  bytecodeOffset?: number;
  /** Called with `new`. */
  isConstructing: boolean;
  /** Absent for a built-in function. */
  values?: TranslatedValues;
}

/** As recorded in the translation. The caller checks them against what else is known about the frame. */
export interface TranslatedValues {
  function: Tagged | undefined;
  /** The receiver, the declared parameters, then any further arguments; undefined for lost values. */
  parameters: (Tagged | undefined)[];
  /** Number of declared parameters, including the receiver. */
  declared: number;
  context: Tagged | undefined;
}

const entryWords = 3;
/** Slots from the inlining positions to the first entry: the offsets and counts of the deoptimisation exits. */
const slotsBeforeEntries = 4;
const maxFrames = 256;
const maxOperations = 100_000;
/** Values of a frame besides parameters and registers: function, context, accumulator. */
const fixedValues = 3;

export interface TranslationSources {
  heap: V8Heap;
  virtual: VirtualMemory;
  opcodes: TranslationOpcodes;
}

/**
 * Innermost frame first; empty if the code can't be deoptimised at this return address. Undefined if its tables are
 * inconsistent.
 */
export function findTranslatedFrames(
  { heap, virtual, opcodes }: TranslationSources,
  compiled: CompiledCode,
  framePointer: number,
): TranslatedFrame[] | undefined {
  const found = findTranslation(heap, compiled);
  if (!found) return undefined;
  if (found === 'none') return [];
  const frames = decodeFrames(new TranslationReader(found.bytes, found.start, opcodes));
  const resolver = new ValueResolver({ heap, virtual, framePointer, literal: found.literal });
  for (const { values } of frames ?? []) for (const value of values) resolver.number(value);
  return frames && describeFrames(frames, found.literal, resolver, heap.layout.signedHeights).reverse();
}

interface Translation {
  bytes: Uint8Array;
  start: number;
  literal(index: number): Tagged | undefined;
}

/** Whether the code has a call that returns there, or to where its deoptimisation begins. */
export const hasReturn = (heap: V8Heap, compiled: CompiledCode): boolean =>
  compiled.kind !== 'baseline' && findIndex(heap, compiled) !== undefined;

function findIndex(heap: V8Heap, { kind, start, size, offset }: CompiledCode): number | undefined {
  const table = {
    start: start + size,
    headerBytes: heap.layout.code.safepointHeader,
    isMaglev: kind === 'maglev',
    instructionSize: size,
  };
  return findDeoptimizationIndex(heap.memory, table, offset);
}

function findTranslation(heap: V8Heap, compiled: CompiledCode): Translation | 'none' | undefined {
  const { fixedArray, deoptimization } = heap.layout;
  const data = heap.field(compiled.code, heap.layout.code.deoptimizationData);
  const count = heap.isPointer(data) ? heap.findSmi(data, fixedArray.length) : undefined;
  const index = findIndex(heap, compiled);
  if (index === noDeoptimization) return 'none';
  if (count === undefined || index === undefined) return undefined;
  const slot = (at: number) => heap.field(data, fixedArray.data + at * 8);
  const entry = deoptimization.inliningPositions + slotsBeforeEntries + index * entryWords;
  if (entry + entryWords > count) return undefined;
  const bytes = heap.findByteArray(slot(0));
  const start = heap.smi(slot(entry + 1));
  const literals = slot(deoptimization.literals);
  if (!bytes || !(start >= 0 && start < bytes.length) || !heap.isPointer(literals)) return undefined;
  const literalCount = heap.findSmi(literals, fixedArray.length) ?? 0;
  return {
    bytes,
    start,
    literal: (at) =>
      at >= 0 && at < literalCount ? strong(heap.field(literals, fixedArray.data + at * 8)) : undefined,
  };
}

/** In a weak reference the second bit is set too. */
const strong = (value: Tagged) => (value % 4 === 3 ? value - 2 : value);

interface DecodedFrame {
  opening: Operation;
  values: TranslatedValue[];
}

/** Every frame of the translation, JavaScript or not, outermost first. */
function decodeFrames(reader: TranslationReader): DecodedFrame[] | undefined {
  const wanted = reader.begin();
  if (wanted === undefined || wanted < 1 || wanted > maxFrames) return undefined;
  const operations: Operation[] = [];
  for (let i = 0; i < maxOperations; i++) {
    const operation = reader.next();
    if (!operation || operation.name.startsWith('BEGIN')) break;
    operations.push(operation);
  }
  const frames: DecodedFrame[] = [];
  for (let at = 0; at < operations.length; ) {
    const opening = operations[at] as Operation;
    const frame = frames.at(-1);
    if (isFrame(opening)) frames.push({ opening, values: [] });
    if (isFrame(opening) || opening.name === 'UPDATE_FEEDBACK') {
      at++;
      continue;
    }
    const nested = nestValue(operations, at);
    if (!frame) return undefined;
    if (!nested) {
      frame.values.length = 0;
      break;
    }
    frame.values.push(nested[0]);
    at = nested[1];
  }
  return frames.filter(isJavaScript).length === wanted ? frames : undefined;
}

const isFrame = ({ name }: Operation) => /_FRAME(?:_WITH|$)|^INLINED_EXTRA_ARGUMENTS$/.test(name);
const isInterpreted = ({ opening }: DecodedFrame) => opening.name.startsWith('INTERPRETED_FRAME');
const isJavaScript = (frame: DecodedFrame) =>
  isInterpreted(frame) || frame.opening.name.startsWith('JAVASCRIPT_BUILTIN');

/** Selects the JavaScript frames. V8's own frames between them describe the arguments of a call, and calls with `new`. */
function describeFrames(
  frames: DecodedFrame[],
  literal: Translation['literal'],
  resolver: ValueResolver,
  signedHeights: boolean,
): TranslatedFrame[] {
  const described: TranslatedFrame[] = [];
  let between: DecodedFrame[] = [];
  for (const frame of frames) {
    if (!isJavaScript(frame)) {
      between.push(frame);
      continue;
    }
    const { operands } = frame.opening;
    const extra = between.find(({ opening }) => opening.name === 'INLINED_EXTRA_ARGUMENTS');
    const values = isInterpreted(frame) ? readValues(frame, resolver, extra, signedHeights) : undefined;
    described.push({
      literal: literal(signed(operands[1] ?? 0)) ?? 0,
      isConstructing: between.some(({ opening }) => opening.name.startsWith('CONSTRUCT_')),
      ...(isInterpreted(frame) ? { bytecodeOffset: signed(operands[0] ?? 0) } : {}),
      ...(values ? { values } : {}),
    });
    between = [];
  }
  return described;
}

/** Order of the values: function, receiver and parameters, context, registers, accumulator. */
function readValues(
  { opening: { name, operands }, values }: DecodedFrame,
  resolver: ValueResolver,
  extra: DecodedFrame | undefined,
  signedHeights: boolean,
): TranslatedValues | undefined {
  const written = operands.at(name === 'INTERPRETED_FRAME_WITH_RETURN' ? -3 : -1) ?? 0;
  const height = signedHeights ? signed(written) : written;
  const count = values.length - height - fixedValues;
  if (count < 1) return undefined;
  const resolve = (value: TranslatedValue | undefined) => value && resolver.resolve(value);
  const passedBeyond = extra?.values.slice(1 + count) ?? [];
  return {
    function: resolve(values[0]),
    parameters: [...values.slice(1, 1 + count), ...passedBeyond].map(resolve),
    declared: count,
    context: resolve(values[1 + count]),
  };
}
