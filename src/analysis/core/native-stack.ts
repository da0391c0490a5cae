/**
 * Walks a thread's machine stack: by call frame information where a module has it, by frame pointers through code
 * that V8 made (which keeps them) and code without tables. Each frame says which. Knows nothing of JavaScript.
 */
import { AbsentMemory, type MemoryReader } from '../../bytes/memory.ts';
import { MalformedInput } from '../../errors.ts';
import { computeCaller, type RegisterFile } from '../../formats/dwarf-cfi/caller.ts';
import { computeFrameRow } from '../../formats/dwarf-cfi/frame-row.ts';
import type { FrameTrust } from '../../model/thread.ts';
import type { Machine } from './machine.ts';
import type { Location, ModuleMap } from './module-map.ts';

export interface NativeFrame {
  programCounter: number;
  stackPointer: number;
  /** Undefined where the callee did not save it and nothing is known of it. */
  framePointer: number | undefined;
  /** How this frame was found. */
  trust: FrameTrust;
  /** Address to look up: of the call, not of the instruction after it. */
  lookupAddress: number;
  location: Location | undefined;
  registers: RegisterFile;
}

export interface NativeStack {
  frames: NativeFrame[];
  /** Why the walk ended before the thread's first frame. */
  stopped?: string;
}

const maxFrames = 20_000;
/** The largest frame that a frame pointer is trusted to span. */
const maxFrameBytes = 16 << 20;

type Step =
  | { registers: RegisterFile; trust: FrameTrust; isSignalFrame: boolean }
  | { end: string | undefined };

/** Never throws on what memory holds; iterative. */
export function walkNativeStack(
  start: RegisterFile,
  machine: Machine,
  modules: ModuleMap,
  memory: MemoryReader,
  /** False where the program counter is already behind the instruction that stopped the thread (a breakpoint). */
  isExact = true,
): NativeStack {
  const frames: NativeFrame[] = [];
  let registers = start;
  let trust: FrameTrust = 'context';
  let exact = isExact;
  while (frames.length < maxFrames) {
    const frame = describe(registers, machine, modules, trust, exact);
    frames.push(frame);
    const step = stepToCaller(frame, frames.length === 1, machine, memory);
    if ('end' in step) return step.end ? { frames, stopped: step.end } : { frames };
    const sp = Number(step.registers.get(machine.stackPointer) ?? 0n);
    if (sp <= frame.stackPointer && !step.isSignalFrame)
      return { frames, stopped: `the stack pointer does not grow at 0x${sp.toString(16)}` };
    if (!step.registers.get(machine.programCounter)) return { frames };
    registers = step.registers;
    trust = step.trust;
    exact = step.isSignalFrame;
  }
  return { frames, stopped: `more than ${maxFrames} frames` };
}

function describe(
  registers: RegisterFile,
  machine: Machine,
  modules: ModuleMap,
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

function stepToCaller(frame: NativeFrame, isFirst: boolean, machine: Machine, memory: MemoryReader): Step {
  try {
    return (
      stepByTables(frame, machine, memory) ??
      (isFirst && !frame.location && !memory.has(frame.programCounter, 1)
        ? stepByReturnAddress(frame, machine, memory)
        : stepByFramePointer(frame, machine, memory))
    );
  } catch (error) {
    if (error instanceof AbsentMemory || error instanceof MalformedInput) return { end: error.message };
    throw error;
  }
}

function stepByTables(frame: NativeFrame, machine: Machine, memory: MemoryReader): Step | undefined {
  const address = frame.location?.address;
  const code = frame.location?.module.code;
  const description = address === undefined ? undefined : code?.findFrame(address);
  if (!description || address === undefined) return undefined;
  const row = computeFrameRow(description, address);
  const column = description.common.returnRegister;
  if (row.registers.get(column)?.kind === 'undefined') return { end: undefined };
  const caller = computeCaller(row, frame.registers, memory, machine.stackPointer);
  if (!caller) return undefined;
  const returnAddress = caller.registers.get(column);
  if (returnAddress === undefined) return { end: undefined };
  caller.registers.set(machine.programCounter, returnAddress);
  return { registers: caller.registers, trust: 'cfi', isSignalFrame: description.common.isSignalFrame };
}

function stepByFramePointer(frame: NativeFrame, machine: Machine, memory: MemoryReader): Step {
  const fp = frame.framePointer;
  if (fp === undefined) return { end: 'the frame pointer is not known here' };
  if (fp === 0) return { end: undefined };
  const distance = fp - frame.stackPointer;
  if (fp % 8 !== 0 || distance < 0 || distance > maxFrameBytes)
    return { end: `no frame at the frame pointer 0x${fp.toString(16)}` };
  const registers: RegisterFile = new Map([
    [machine.framePointer, memory.readBigWord(fp)],
    [machine.programCounter, memory.readBigWord(fp + 8)],
    [machine.stackPointer, BigInt(fp + 16)],
  ]);
  return { registers, trust: 'frame-pointer', isSignalFrame: false };
}

/** After a call to an address that holds no code the return address is still on top of the stack. */
function stepByReturnAddress(frame: NativeFrame, machine: Machine, memory: MemoryReader): Step {
  const registers = new Map(frame.registers);
  registers.set(machine.programCounter, memory.readBigWord(frame.stackPointer));
  registers.set(machine.stackPointer, BigInt(frame.stackPointer + 8));
  return { registers, trust: 'scan', isSignalFrame: false };
}
