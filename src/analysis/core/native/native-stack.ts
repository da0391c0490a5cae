/**
 * Unwinds a thread's native stack: with call frame information if a module has it, otherwise (V8's generated code, code
 * without tables) with frame pointers. Each frame records which. Knows nothing of JavaScript.
 */
import { AbsentMemory, type MemoryReader } from '../../../bytes/memory.ts';
import { MalformedInput } from '../../../errors.ts';
import { type CallerFrame, computeCaller, type RegisterFile } from '../../../formats/dwarf-cfi/caller.ts';
import { computeFrameRow, type FrameRow } from '../../../formats/dwarf-cfi/frame-row.ts';
import type { CoreFile } from '../../../formats/elf-core/core-contents.ts';
import type { FrameTrust } from '../../../model/thread.ts';
import { findUses } from './frame-size.ts';
import type { Machine } from './machine.ts';
import type { ModuleCode } from './module-code.ts';
import type { Location, ModuleMap } from './module-map.ts';

export interface NativeFrame {
  programCounter: number;
  stackPointer: number;
  /** Undefined if the callee did not save it and it is unknown. */
  framePointer: number | undefined;
  /** How this frame was found. */
  trust: FrameTrust;
  /** The address to look up: inside the call, not the instruction after it. */
  lookupAddress: number;
  location: Location | undefined;
  registers: RegisterFile;
  /** True for the code that a signal handler returns to. */
  isSignalReturn?: boolean;
}

export interface NativeStack {
  frames: NativeFrame[];
  /** How many frames of a very deep stack were dropped, after the first ones. */
  dropped: number;
  /** Why the walk ended before the thread's first frame; absent if it did not. */
  stopped?: string;
}

const wordBytes = 8;
const maxFrames = 500_000;
/** Of a deep recursion, this many of the first frames and at least as many of the last are kept. */
const keptFrames = 2000;
/** The largest frame size for which a frame pointer is trusted. */
const maxFrameBytes = 16 << 20;
const huntBytes = 64 << 10;
const maxFrameMarker = 256;
/** The first functions of a program use less of the stack; it was begun with fewer arguments. */
const mostOfFirst = 1024;
const mostArguments = 100_000;
/** How many bytes of a function's first instructions are read. */
const longestPrologue = 64;
/** rax and x0: what a call or a system call returns. */
const resultRegister = 0;
/** The functions of glibc and musl that start a thread. */
const startsThread = /^_*clone3?$/;
/** They, and what the loaders and C libraries run first. */
const beginsWith =
  /^(?:_*clone3?|_*start(?:_thread|_c)?|_*thread_start|_dl_\w*start\w*|__libc_start\w*|main)$/;

type Step =
  | { registers: RegisterFile; trust: FrameTrust; isSignalFrame: boolean }
  | { end: string | undefined };

/** The parts of an opened core that unwinding needs. */
export interface UnwindSpace {
  machine: Machine;
  modules: ModuleMap;
  memory: MemoryReader;
  core: Pick<CoreFile, 'segments'>;
}

/**
 * Never throws, whatever memory contains; iterative. `isExact`: false if the program counter is already behind the
 * instruction that stopped the thread (a breakpoint).
 */
export function walkNativeStack(start: RegisterFile, space: UnwindSpace, isExact = true): NativeStack {
  const { machine } = space;
  const frames: NativeFrame[] = [];
  let registers = start;
  let trust: FrameTrust = 'context';
  let exact = isExact;
  let dropped = 0;
  while (frames.length + dropped < maxFrames) {
    if (frames.length >= 3 * keptFrames) dropped += frames.splice(keptFrames, keptFrames).length;
    const frame = describe(registers, space, trust, exact);
    frames.push(frame);
    const step = stepToCaller(frame, frames.length === 1, space);
    if ('end' in step) return step.end ? { frames, dropped, stopped: step.end } : { frames, dropped };
    const sp = Number(step.registers.get(machine.stackPointer) ?? 0n);
    // A leaf function needs no stack if the return address is in a register.
    const isLeaf = exact && machine.linkRegister !== undefined && sp === frame.stackPointer;
    if (sp <= frame.stackPointer && !step.isSignalFrame && !isLeaf)
      return { frames, dropped, stopped: `the stack pointer does not grow at 0x${sp.toString(16)}` };
    if (!step.registers.get(machine.programCounter))
      return { frames, dropped, ...(beginsStack(frame) ? {} : { stopped: 'the return address is zero' }) };
    registers = step.registers;
    trust = step.trust;
    exact = step.isSignalFrame;
  }
  return { frames, dropped, stopped: `more than ${maxFrames} frames` };
}

function describe(
  registers: RegisterFile,
  { machine, modules }: UnwindSpace,
  trust: FrameTrust,
  exact: boolean,
): NativeFrame {
  const programCounter = Number(registers.get(machine.programCounter) ?? 0n);
  const framePointer = registers.get(machine.framePointer);
  const lookupAddress = exact ? programCounter : programCounter - 1;
  return {
    programCounter,
    stackPointer: Number(registers.get(machine.stackPointer) ?? 0n),
    framePointer: framePointer === undefined ? undefined : Number(framePointer),
    trust,
    lookupAddress,
    location: modules.find(lookupAddress),
    registers,
  };
}

function stepToCaller(frame: NativeFrame, isFirst: boolean, space: UnwindSpace): Step {
  try {
    return (
      stepOutOfHandler(frame, space) ??
      stepByTables(frame, space) ??
      (isFirst && isNewThread(frame) ? { end: undefined } : undefined) ??
      stepByInstructions(frame, space) ??
      (isFirst && !frame.location && !space.memory.peek(frame.programCounter, 1)
        ? stepByReturnAddress(frame, space)
        : stepByFramePointer(frame, space))
    );
  } catch (error) {
    if (error instanceof AbsentMemory || error instanceof MalformedInput) return { end: error.message };
    throw error;
  }
}

function stepOutOfHandler(frame: NativeFrame, { machine, memory }: UnwindSpace): Step | undefined {
  const registers = machine.findInterrupted?.(frame.registers, memory);
  if (!registers) return undefined;
  frame.isSignalReturn = true;
  return { registers, trust: 'context', isSignalFrame: true };
}

function stepByTables(frame: NativeFrame, space: UnwindSpace): Step | undefined {
  const { machine, memory } = space;
  const address = frame.location?.address;
  const code = frame.location?.module.code;
  const description = address === undefined ? undefined : code?.findFrame(address);
  if (!description || address === undefined) return undefined;
  const row = computeFrameRow(description, address);
  const column = description.common.returnRegister;
  if (row.registers.get(column)?.kind === 'undefined') return { end: undefined };
  const known = computeCaller(row, frame.registers, memory, machine.stackPointer);
  const entry = frame.lookupAddress - (address - description.start);
  const caller = known ?? computeFromCallSite(row, entry, frame, space);
  if (!caller) return undefined;
  const returnAddress = caller.registers.get(column);
  if (returnAddress === undefined) return { end: 'the return address is not known here' };
  caller.registers.set(machine.programCounter, machine.withoutSignature(returnAddress));
  const trust = known ? 'cfi' : 'scan';
  return { registers: caller.registers, trust, isSignalFrame: description.common.isSignalFrame };
}

/**
 * Code without tables, such as musl's: what it pushed shows where its frame ends. V8's own code, which has no tables either, keeps
 * the frame pointer.
 */
function stepByInstructions(frame: NativeFrame, space: UnwindSpace): Step | undefined {
  if (!frame.location?.module.code || isOfV8(frame.location.module.code)) return undefined;
  const { machine, memory } = space;
  const found = findUses(frame, machine).filter(({ bytes }) =>
    isBehindCall(memory.findWord(frame.stackPointer + bytes - wordBytes), space),
  );
  const [use] = found;
  if (!use || found.some(({ bytes }) => bytes !== use.bytes))
    return isBelowArguments(frame.stackPointer, memory) ? { end: undefined } : undefined;
  const end = frame.stackPointer + use.bytes;
  const saved = use.savedFramePointer;
  const framePointer =
    saved === undefined ? frame.registers.get(machine.framePointer) : memory.readBigWord(end - saved);
  const registers: RegisterFile = new Map([
    [machine.stackPointer, BigInt(end)],
    [machine.programCounter, memory.readBigWord(end - wordBytes)],
  ]);
  if (framePointer !== undefined) registers.set(machine.framePointer, framePointer);
  return { registers, trust: 'instructions', isSignalFrame: false };
}

function isBehindCall(word: number | undefined, { machine, modules, memory }: UnwindSpace): boolean {
  if (word === undefined || word < 0) return false;
  const { longestCall } = machine;
  const { module, address } = modules.find(word - 1) ?? {};
  const start = word - longestCall;
  const code =
    address === undefined
      ? memory.has(start, longestCall) && memory.readBytes(start, longestCall)
      : module?.code?.findBytes(address + 1 - longestCall, longestCall);
  return code ? machine.endsInCall(code) : false;
}

/** The kernel puts the number of arguments, their addresses and a zero where the first function's stack begins. */
function isBelowArguments(stackPointer: number, memory: MemoryReader): boolean {
  for (let at = stackPointer; at < stackPointer + mostOfFirst; at += wordBytes) {
    const count = memory.findWord(at);
    if (count === undefined) return false;
    if (count <= 0 || count > mostArguments || memory.findWord(at + (count + 1) * wordBytes) !== 0) continue;
    const first = memory.findWord(at + wordBytes);
    const last = memory.findWord(at + count * wordBytes);
    if (first !== undefined && last !== undefined && first > at && last >= first) return true;
  }
  return false;
}

/**
 * The tables need a register that a core taken without ptrace lacks. The nearest return address after a call of this very
 * function shows where its frame ends, and so the value of the register.
 */
function computeFromCallSite(
  { cfa, registers }: FrameRow,
  entry: number,
  frame: NativeFrame,
  { machine, memory }: UnwindSpace,
): CallerFrame | undefined {
  // On machines with a link register, a frame doesn't end with its return address.
  if (cfa.kind !== 'register' || machine.linkRegister !== undefined) return undefined;
  const start = Math.ceil(frame.stackPointer / 8) * 8;
  for (let at = start; at < start + huntBytes; at += 8) {
    const word = memory.findWord(at);
    if (word === undefined) return undefined;
    if (machine.findCallee(word, memory) !== entry) continue;
    const guessed = new Map(frame.registers).set(cfa.register, BigInt(at + 8) - cfa.offset);
    return computeCaller({ cfa, registers }, guessed, memory, machine.stackPointer);
  }
  return undefined;
}

/**
 * At its first instruction a thread is inside of the `clone` that its creator called, behind the system call: no table describes
 * that place, its stack is empty, and the frame pointer is still the creator's.
 */
function isNewThread({ location, registers }: NativeFrame): boolean {
  if (registers.get(resultRegister) !== 0n || location?.address === undefined) return false;
  return startsThread.test(location.module.code?.findFunction(location.address)?.name ?? '');
}

/**
 * Whether a stack may end here: in a file's code without a name, which may be anything, or in what starts threads and programs.
 * Code of no file was compiled by a running program, and something called it.
 */
function beginsStack({ location }: NativeFrame): boolean {
  if (!location) return false;
  const name =
    location.address === undefined ? undefined : location.module.code?.findFunction(location.address)?.name;
  return name === undefined || beginsWith.test(name);
}

/** A lookup reads the names of a whole file, and the stack of an endless recursion has a hundred thousand frames. */
const ofV8 = new WeakMap<ModuleCode, boolean>();

function isOfV8(code: ModuleCode): boolean {
  const known = ofV8.get(code);
  if (known !== undefined) return known;
  const isIt = code.findExported('v8dbg_HeapObjectTag') !== undefined;
  ofV8.set(code, isIt);
  return isIt;
}

function stepByFramePointer(frame: NativeFrame, space: UnwindSpace): Step {
  const { machine, memory } = space;
  const known = frame.framePointer;
  // Code of a module without a file may use that register for anything.
  const isForeign = frame.location !== undefined && !frame.location.module.code;
  const isBelieved = known !== undefined && !(isForeign && !mayBeFrame(known, frame));
  const fp = isBelieved ? known : huntFramePointer(frame.stackPointer, space);
  if (fp === undefined) return { end: 'the frame pointer is not known here' };
  frame.framePointer = fp;
  if (fp === 0) return { end: beginsStack(frame) ? undefined : 'the frame pointer is zero' };
  if (!mayBeFrame(fp, frame)) return { end: `no frame at the frame pointer 0x${fp.toString(16)}` };
  const registers: RegisterFile = new Map([
    [machine.framePointer, memory.readBigWord(fp)],
    [machine.programCounter, machine.withoutSignature(memory.readBigWord(fp + 8))],
  ]);
  const pushed = findPushedFirst(frame, machine);
  pushed.forEach((number, i) => {
    if (number !== undefined) registers.set(number, memory.readBigWord(fp + 16 + i * 8));
  });
  registers.set(machine.stackPointer, BigInt(fp + 16 + pushed.length * 8));
  return { registers, trust: isBelieved ? 'frame-pointer' : 'scan', isSignalFrame: false };
}

/** The registers between a frame's two words and its caller's stack. */
function findPushedFirst({ location }: NativeFrame, machine: Machine): (number | undefined)[] {
  const { module, address } = location ?? {};
  if (!machine.findPushedFirst || !module?.code || address === undefined) return [];
  const start = module.code.findFunction(address)?.address;
  const code = start === undefined ? undefined : module.code.findBytes(start, longestPrologue);
  return code ? machine.findPushedFirst(code) : [];
}

function mayBeFrame(fp: number, { stackPointer }: NativeFrame): boolean {
  const distance = fp - stackPointer;
  return fp % 8 === 0 && distance >= 0 && distance <= maxFrameBytes;
}

/**
 * A core taken without ptrace has no frame pointer. V8's frames can be recognised: a saved frame pointer further up, a return
 * address into code, below them a context or a small marker; and the next frame looks the same.
 */
function huntFramePointer(stackPointer: number, space: UnwindSpace): number | undefined {
  for (let at = Math.ceil(stackPointer / 8) * 8; at < stackPointer + huntBytes; at += 8) {
    // The end of the stack. A damaged stack pointer may also be so large that adding 8 doesn't change it.
    if (space.memory.findWord(at) === undefined) return undefined;
    const saved = callerOf(at, space);
    if (saved === undefined || callerOf(saved, space) === undefined) continue;
    const below = space.memory.findWord(at - 8) ?? 0;
    if (below > 0 && (below % 2 === 1 || below < maxFrameMarker)) return at;
  }
  return undefined;
}

/** The saved frame pointer, if there may be a frame at `at`; otherwise undefined. */
function callerOf(at: number, { machine, memory, core }: UnwindSpace): number | undefined {
  const saved = memory.findWord(at);
  if (saved === undefined || !memory.has(at + 8, 8)) return undefined;
  const returnAddress = Number(machine.withoutSignature(memory.readBigWord(at + 8)));
  if (saved <= at || saved - at > maxFrameBytes || saved % 8 !== 0) return undefined;
  const isCode = core.segments.some((s) => s.executable && returnAddress >= s.start && returnAddress < s.end);
  return isCode ? saved : undefined;
}

/** After a call to an address without code, the return address is still where the call stored it. */
function stepByReturnAddress(frame: NativeFrame, { machine, memory }: UnwindSpace): Step {
  const registers = new Map(frame.registers);
  const { linkRegister } = machine;
  const returnAddress =
    linkRegister === undefined ? memory.readBigWord(frame.stackPointer) : registers.get(linkRegister);
  if (returnAddress === undefined) return { end: 'the return address is not known here' };
  registers.set(machine.programCounter, machine.withoutSignature(returnAddress));
  if (linkRegister === undefined) registers.set(machine.stackPointer, BigInt(frame.stackPointer + 8));
  return { registers, trust: 'scan', isSignalFrame: false };
}
