/**
 * What unwinding needs to know about a processor: DWARF numbers of its registers, which of them are program counter, stack
 * and frame pointer, how it calls, and where a call stores its return address.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { RegisterFile } from '../../../formats/dwarf-cfi/caller.ts';
import type { CoreThread } from '../../../formats/elf-core/core-contents.ts';
import type { StackUse } from './x64-stack-use.ts';

export interface Machine {
  /** DWARF numbers. The program counter's is our own if DWARF defines none. */
  programCounter: number;
  stackPointer: number;
  framePointer: number;
  /** The register that receives the return address of a call; without one, it is on top of the stack. */
  linkRegister?: number;
  /** The register with the bytecode offset of V8's interpreter. Source: `v8dbg_InterpreterBytecodeOffsetRegister`. */
  interpreterOffset: number;
  /** After a breakpoint the program counter is behind the instruction. */
  stopsBehindBreakpoint: boolean;
  /** Registers of a stopped thread, by DWARF number. */
  registersOf(thread: CoreThread): RegisterFile;
  /** Length in bytes of the longest call instruction. */
  longestCall: number;
  /** Whether the bytes before a return address (`longestCall` of them) end in a call instruction. */
  endsInCall(code: Uint8Array): boolean;
  /**
   * The target of the call at the end of the bytes before a return address (`longestCall` of them); undefined if it isn't
   * certainly a direct call.
   */
  findTarget(code: Uint8Array, returnAddress: number): number | undefined;
  /**
   * Where the code at `start` jumps to directly, any function's own loops included; undefined if it also jumps to what a
   * register or memory contains.
   */
  findJumps(code: Uint8Array, start: number): number[] | undefined;
  /** Where the instruction at `start` leads, if it is an unconditional jump to a fixed place. */
  findJump(code: Uint8Array, start: number): number | undefined;
  /** Where the first such jump leads that stands directly behind a call in the code at `start`. */
  findJumpBehindCall(code: Uint8Array, start: number): number | undefined;
  /** Length in bytes of an entry of the procedure linkage table. */
  linkageEntry: number;
  /** The address of the word that such an entry jumps to, if the code is one whose word can be read from it. */
  findLinkageSlot(code: Uint8Array, address: number): number | undefined;
  /** The target of the call instruction before a return address; undefined if it isn't a direct call. */
  findCallee(returnAddress: number, memory: MemoryReader): number | undefined;
  /** Removes the pointer authentication code from a return address. */
  withoutSignature(returnAddress: bigint): bigint;
  /**
   * The registers that a function pushes before its frame pointer and return address, from its first instructions; in the
   * order of their addresses, undefined for registers that don't matter. Absent on machines where a frame ends with those
   * two.
   */
  findPushedFirst?(code: Uint8Array): (number | undefined)[];
  /**
   * How many bytes a function reserves below its frame pointer where it makes its frame; undefined if that is not in this code.
   * What needs no frame may come before.
   */
  findFrameBytes?(code: Uint8Array): number | undefined;
  /** Bytes of the stack that a call itself uses. Present with `findUses`. */
  entryDepth?: number;
  /**
   * How much of the stack a function uses where an instruction is, by its instructions from the entry at 0: the instruction at
   * `target`, or if `isReturn`, the call that ends there. More than one if it is reached in several ways; undefined if it is not
   * known. `frameDepth`: how far below the place behind the return address the frame pointer points, if that is known.
   */
  findUses?(code: Uint8Array, target: number, isReturn: boolean, frameDepth?: number): StackUse[] | undefined;
  /** The same by the instructions from `start` to where the function may return. */
  findUsesToReturn?(code: Uint8Array, start: number): StackUse[];
  /** The interrupted registers, if the program counter is at the instructions that return from a signal handler. */
  findInterrupted?(registers: RegisterFile, memory: MemoryReader): RegisterFile | undefined;
}
