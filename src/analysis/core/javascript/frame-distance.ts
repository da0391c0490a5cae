/**
 * Compares where a frame lies with what its code says about its size. A frame pointer that was damaged often points to another
 * frame further up, so that the frames between them would be missing without anything looking wrong.
 */
import { findLowestSlot, findPassedWords } from '../../../formats/v8/frames/frame-extent.ts';
import type { CoreDump } from '../core-dump.ts';
import { builtinName, findSymbol } from '../native/native-names.ts';
import type { NativeFrame } from '../native/native-stack.ts';
import type { V8Runtime } from './v8-runtime.ts';

export const otherSize =
  'it is not where its code and the frame above it end, so that frames may be missing there';
export const frameBetween =
  'another frame lies between it and the frame above it, so that frames are missing there';

/** Words that V8's own code without a function may pass on the stack; a frame of JavaScript has more. */
const mostWordsOfStub = 6;
/** Bytes that are searched for a frame that was skipped. */
const longestSearched = 64 << 10;
/** More than any of V8's own code has. */
const mostReserved = 1024;
/** Of a function, what is searched for where it makes its frame. */
const longestStart = 4 << 10;

/** Undefined if nothing is wrong, or if it is not known. `callee`: the next inner frame. */
export function doubtDistance(
  frame: NativeFrame,
  builtin: string | undefined,
  callee: NativeFrame,
  v8: V8Runtime,
  dump: CoreDump,
): string | undefined {
  const { framePointer, programCounter, stackPointer: low, location } = frame;
  if (framePointer === undefined || framePointer < low) return undefined;
  const search = (end: number, fits: Fits) =>
    hasFrame({ low, end: Math.min(end, low + longestSearched), fits }, v8, dump) ? frameBetween : undefined;
  // What earlier calls left points upwards.
  const isDamaged: Fits = (saved, at) => saved <= at && saved > low - longestSearched;
  const isWithin: Fits = (saved, at) => (saved > at && saved <= framePointer) || isDamaged(saved, at);
  const isOfThis: Fits = (saved, at) => saved === framePointer || isDamaged(saved, at);
  const isCalleeOfV8 = builtinName(findSymbol(callee)) !== undefined || !callee.location;
  // In C++, a large array on the stack may hold what earlier calls left, and any small number looks like a marker. What C++ called
  // from there can't have lost a frame of V8.
  if (builtin === undefined && location)
    return isCalleeOfV8 ? search(framePointer, (saved) => saved === framePointer) : undefined;
  const extent = { programCounter, framePointer, ...(builtin === undefined ? {} : { builtin }) };
  const lowest = findLowestSlot(v8.heap, extent);
  if (lowest === undefined)
    return (
      search(framePointer, isOfThis) ??
      search(framePointer - (findReserved(frame, dump) ?? mostReserved), isWithin)
    );
  const passed =
    isCalleeOfV8 && callee.framePointer !== undefined
      ? findPassedWords(v8.heap, callee.framePointer)
      : undefined;
  const words = (lowest - low) / 8 - (passed ?? 0);
  // The stack of arm64 is kept at a multiple of 16 bytes: after the registers, and after what was passed.
  const padding = dump.core.machine === 'arm64' ? 2 : 0;
  if (words < 0) return otherSize;
  if (passed !== undefined) return words > padding ? otherSize : undefined;
  return words <= mostWordsOfStub ? undefined : search(lowest, isWithin);
}

/** How much native code reserves for itself below the frame pointer, where what earlier calls left may lie. */
function findReserved(frame: NativeFrame, { machine }: CoreDump): number | undefined {
  const symbol = findSymbol(frame);
  const code =
    symbol && frame.location?.module.code?.findBytes(symbol.address, Math.min(symbol.size, longestStart));
  return code && machine.findFrameBytes?.(code);
}

type Fits = (saved: number, at: number) => boolean;

/** Whether a frame of V8 is between: a frame pointer that fits, above a context or a marker and below an address of code. */
function hasFrame(
  { low, end, fits }: { low: number; end: number; fits: Fits },
  { heap }: V8Runtime,
  dump: CoreDump,
): boolean {
  const { memory } = dump;
  const isFrame = (at: number) => {
    const saved = memory.findWord(at);
    if (saved === undefined || saved % 8 !== 0 || !fits(saved, at)) return false;
    const below = memory.findWord(at - 8) ?? 0;
    const isMarked = below > 0 && heap.layout.frameTypes.has(below / 2);
    return (isMarked || heap.isContext(below)) && isCode(memory.findWord(at + 8), dump);
  };
  const found = memory.unrecorded(() => {
    for (let at = low + 8; at < end; at += 8) if (isFrame(at)) return at;
    return undefined;
  });
  // A mini core must contain what shows it.
  return found !== undefined && isFrame(found);
}

/** A deoptimised frame does not return to behind a call, so that this is not asked. */
function isCode(word: number | undefined, { core, machine }: CoreDump): boolean {
  if (word === undefined || word < 0) return false;
  const address = Number(machine.withoutSignature(BigInt(word)));
  return core.segments.some((s) => s.executable && address >= s.start && address < s.end);
}
