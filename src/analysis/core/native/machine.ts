/**
 * What unwinding needs to know of a processor, behind one seam: DWARF numbers of its registers, which of them are
 * program counter, stack and frame pointer, how it calls and where a call leaves its return address.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { RegisterFile } from '../../../formats/dwarf-cfi/caller.ts';
import type { CoreThread } from '../../../formats/elf-core/core-contents.ts';

export interface Machine {
  /** DWARF numbers; the program counter's may be a number of our own where DWARF has none. */
  programCounter: number;
  stackPointer: number;
  framePointer: number;
  /** Gets the return address of a call; without one it is on top of the stack. */
  linkRegister?: number;
  /** Keeps the offset of the bytecode that V8's interpreter runs. Source: `v8dbg_InterpreterBytecodeOffsetRegister`. */
  interpreterOffset: number;
  /** A breakpoint leaves the program counter behind the instruction. */
  stopsBehindBreakpoint: boolean;
  /** Registers of a stopped thread, by DWARF number. */
  registersOf(thread: CoreThread): RegisterFile;
  /** Bytes of the longest instruction that calls. */
  longestCall: number;
  /** Whether the bytes before a return address, as many as the longest call has, end in an instruction that calls. */
  endsInCall(code: Uint8Array): boolean;
  /** The function that is called by the instruction before a return address; undefined where that names none. */
  findCallee(returnAddress: number, memory: MemoryReader): number | undefined;
  /** A return address without the signature that the processor may have put into it. */
  withoutSignature(returnAddress: bigint): bigint;
  /**
   * The registers that a function pushes before its frame pointer and return address, by its first instructions; in the
   * order of their addresses, undefined for one that nobody asks for. Absent where a frame ends with those two.
   */
  findPushedFirst?(code: Uint8Array): (number | undefined)[];
  /** What a signal interrupted, where the program counter is at the instructions that return from its handler. */
  findInterrupted?(registers: RegisterFile, memory: MemoryReader): RegisterFile | undefined;
}
