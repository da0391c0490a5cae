/**
 * The table of what V8's metadata lacks, with a row per V8 line. A row is only a claim: readers check the type of what they find
 * in a field, so that a wrong row results in missing answers instead of wrong ones. Sources of the rows: V8's .tq files of each
 * line; each number was verified with cores of the Nodes in test/core-nodes.
 */

import {
  opcodesOfV8Line11,
  opcodesOfV8Line12,
  opcodesOfV8Line13,
  opcodesOfV8Line101,
  opcodesOfV8Line107,
  opcodesOfV8Line108,
  opcodesOfV8Line129,
} from '../frames/translation-opcodes.ts';

/** Facts that V8's metadata lacks. Offsets are in bytes from an object's start. */
export interface LayoutRow {
  /** First V8 version of the line, as major * 100 + minor. */
  from: number;
  bytecodePositions: number;
  codeDeoptimizationData: number;
  codePositions: number;
  codeFlags: number;
  codeInstructionSize: number;
  /** Slots of a SharedFunctionInfo that may contain its bytecode. */
  functionData: number[];
  /** The lowest bits of code offset deltas are the statement flag (V8 14) instead of the sign. */
  unsignedPositionDeltas: boolean;
  lastFunctionType: number;
  /** Numbers in V8's enum FunctionKind: of functions that set the fields of instances, and of those for static members. */
  initializerKinds: { instance: readonly number[]; static: readonly number[] };
  /** A date contains its time as a raw double instead of a heap number. */
  bareDates: boolean;
  safepointHeader: number;
  /** Of a frame that runs bytecode: bytes of its fixed slots, and the field of a BytecodeArray with the bytes of its registers. */
  interpreterFrame: { fixedBytes: number; sizeField: number };
  /**
   * A page's header: at the start of the page, or at the address in the word at `pointer`. The numbers are offsets in the
   * header. `freed`: flags of a page that is free, and waits for the thread that releases its memory (PRE_FREED and
   * UNREGISTERED in V8).
   */
  page: {
    pointer?: number;
    self?: number;
    size: number;
    heap: number;
    start: number;
    end: number;
    freed?: number;
  };
  /** Names from translation-opcode.h in their order. */
  translation: readonly string[];
  /** Translations encode their opcodes with a sign. */
  signedOpcodes?: boolean;
  /** Translations encode the number of a frame's registers with a sign. */
  signedHeights: boolean;
}

const initializersOfV8Line10 = { instance: [24], static: [25] };
/** V8 distinguishes whether members of the other sort come before. */
const initializersOfV8Line146 = { instance: [24, 25], static: [26, 27] };

export const layoutRows: readonly LayoutRow[] = [
  {
    from: 1001,
    bytecodePositions: 32,
    codeDeoptimizationData: 16,
    codePositions: 24,
    codeFlags: 48,
    codeInstructionSize: 56,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 40, sizeField: 40 },
    page: { size: 0, heap: 16, start: 24, end: 32, freed: (1 << 14) | (1 << 19) },
    translation: opcodesOfV8Line101,
    signedOpcodes: true,
    signedHeights: true,
  },
  {
    from: 1007,
    bytecodePositions: 32,
    codeDeoptimizationData: 16,
    codePositions: 24,
    codeFlags: 48,
    codeInstructionSize: 56,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 40, sizeField: 40 },
    page: { size: 0, heap: 16, start: 24, end: 32, freed: (1 << 14) | (1 << 19) },
    translation: opcodesOfV8Line107,
    signedHeights: true,
  },
  {
    from: 1008,
    bytecodePositions: 32,
    codeDeoptimizationData: 16,
    codePositions: 24,
    codeFlags: 48,
    codeInstructionSize: 56,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 40, sizeField: 40 },
    page: { size: 0, heap: 16, start: 24, end: 32, freed: (1 << 14) | (1 << 19) },
    translation: opcodesOfV8Line108,
    signedHeights: true,
  },
  {
    from: 1103,
    bytecodePositions: 32,
    codeDeoptimizationData: 16,
    codePositions: 24,
    codeFlags: 48,
    codeInstructionSize: 56,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 40, sizeField: 40 },
    page: { size: 0, heap: 16, start: 24, end: 32, freed: (1 << 14) | (1 << 19) },
    translation: opcodesOfV8Line11,
    signedHeights: true,
  },
  {
    from: 1108,
    bytecodePositions: 32,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 40,
    codeInstructionSize: 44,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 40, sizeField: 40 },
    page: { size: 0, heap: 16, start: 24, end: 32, freed: (1 << 14) | (1 << 19) },
    translation: opcodesOfV8Line12,
    signedHeights: true,
  },
  {
    from: 1204,
    bytecodePositions: 24,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 48,
    codeInstructionSize: 52,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: false,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 48, sizeField: 48 },
    page: { pointer: 8, self: 8, size: 16, heap: 24, start: 32, end: 40, freed: (1 << 13) | (1 << 16) },
    translation: opcodesOfV8Line12,
    signedHeights: true,
  },
  {
    from: 1209,
    bytecodePositions: 24,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 48,
    codeInstructionSize: 52,
    functionData: [8],
    unsignedPositionDeltas: false,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: true,
    safepointHeader: 8,
    interpreterFrame: { fixedBytes: 48, sizeField: 48 },
    page: { pointer: 8, self: 8, size: 16, heap: 64, start: 72, end: 56, freed: (1 << 16) | (1 << 19) },
    translation: opcodesOfV8Line129,
    signedHeights: true,
  },
  {
    from: 1306,
    bytecodePositions: 24,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 52,
    codeInstructionSize: 56,
    functionData: [8, 16],
    unsignedPositionDeltas: false,
    lastFunctionType: 2081,
    initializerKinds: initializersOfV8Line10,
    bareDates: true,
    safepointHeader: 12,
    interpreterFrame: { fixedBytes: 48, sizeField: 48 },
    page: { pointer: 8, self: 8, size: 16, heap: 64, start: 72, end: 56, freed: (1 << 16) | (1 << 19) },
    translation: opcodesOfV8Line13,
    signedHeights: false,
  },
  {
    from: 1400,
    bytecodePositions: 24,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 52,
    codeInstructionSize: 56,
    functionData: [8, 16],
    unsignedPositionDeltas: true,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line10,
    bareDates: true,
    safepointHeader: 12,
    interpreterFrame: { fixedBytes: 48, sizeField: 48 },
    page: { pointer: 8, self: 8, size: 16, heap: 64, start: 72, end: 56 },
    translation: opcodesOfV8Line13,
    signedHeights: false,
  },
  {
    from: 1406,
    bytecodePositions: 24,
    codeDeoptimizationData: 8,
    codePositions: 16,
    codeFlags: 52,
    codeInstructionSize: 56,
    functionData: [8, 16],
    unsignedPositionDeltas: true,
    lastFunctionType: 2082,
    initializerKinds: initializersOfV8Line146,
    bareDates: true,
    safepointHeader: 12,
    interpreterFrame: { fixedBytes: 48, sizeField: 48 },
    page: { pointer: 8, self: 8, size: 16, heap: 64, start: 72, end: 56 },
    translation: opcodesOfV8Line13,
    signedHeights: false,
  },
];

/**
 * Lines for which every number of the rows was verified, with the digests of their constants (`V8Metadata.digest`): of official builds for
 * x86-64, then for arm64. Other lines are read with the nearest row, and checked. Other constants than these are read too, but doubted.
 */
export const provenLines: ReadonlyMap<number, readonly string[]> = new Map([
  [1001, ['23042c6016c07bee']],
  [1002, ['3bac41bdb645927d']],
  [1007, ['0f553c9bc494549f']],
  [1008, ['83bb40c518dcd1e3']],
  [1103, ['41c2588917828d08', '0327a60718de1afd']],
  [1108, ['294d2b67d815114c']],
  [1204, ['583d7a37a8a3a1e8', '4eea7b55febb6fb7']],
  [1209, ['c6b96b50fa55c529']],
  // Node 24 lost one constant after 24.5.
  [1306, ['afc41744c2802445', 'dbe447f2870e9dfc', 'b6338b2ebc02f681']],
  [1401, ['72eb96aec3b16252']],
  [1406, ['3e06bb0d3e99b98a', '7f800191acbe3f5d']],
]);
/** Lines whose heap graph was compared with V8's own snapshot of the same process. */
export const graphLines: ReadonlySet<number> = new Set([1103, 1204, 1306, 1406]);
