/**
 * The frame that the kernel pushes on the stack for a signal handler on x86-64. After the handler has returned, its bytes
 * remain below the stack pointer until they are overwritten. Node's WebAssembly trap handler responds to a fault by raising
 * the signal again, so that the kernel's own note then states "sent by tkill" and no address. The frame of that handler still
 * contains the original fault (gdb does not look there). Sources: arch/x86/include/asm/sigframe.h, uapi/asm/sigcontext.h,
 * uapi/asm-generic/ucontext.h.
 */
import type { MemoryReader } from '../../bytes/memory.ts';
import { SI_CODE, SI_PID, SI_UID, senderCodes, type X64Register } from './layout.ts';

/** Offsets from the start of struct rt_sigframe. */
const UC_MCONTEXT = 48;
const ERR = UC_MCONTEXT + 152;
const TRAPNO = UC_MCONTEXT + 160;
const CR2 = UC_MCONTEXT + 176;
const RT_SIGFRAME_INFO = 312;
const RT_SIGFRAME_SIZE = RT_SIGFRAME_INFO + 128;
const savedRegisters: [X64Register, number][] = [
  ['r8', 0],
  ['r9', 8],
  ['r10', 16],
  ['r11', 24],
  ['r12', 32],
  ['r13', 40],
  ['r14', 48],
  ['r15', 56],
  ['rdi', 64],
  ['rsi', 72],
  ['rbp', 80],
  ['rbx', 88],
  ['rdx', 96],
  ['rax', 104],
  ['rcx', 112],
  ['rsp', 120],
  ['rip', 128],
];
const RIP = UC_MCONTEXT + 128;
const RSP = UC_MCONTEXT + 120;

/** The kernel skips 128 bytes below the stack pointer, followed by the vector registers (11 KB with AMX). */
const searchBytes = 32 * 1024;

const SIGSEGV = 11;
export const PAGE_FAULT = 14;
export const GENERAL_PROTECTION = 13;

export interface SignalSender {
  pid: number;
  uid: number;
}

export interface DeadSignalFrame extends SignalFrame {
  /**
   * The sender of the signal; absent for a fault. If there is a sender, the trap is that of an older fault, if any, because
   * sending a signal does not change the recorded trap.
   */
  sender?: SignalSender;
}

export interface SignalFrame {
  /** Address of the frame. */
  address: number;
  /** Number of the processor's trap. */
  trap: number;
  /** For a page fault: bit 0 the page was present, bit 1 write, bit 4 instruction fetch. */
  errorCode: number;
  /** The address of the last page fault (CR2). */
  faultAddress: bigint;
}

/** The frame below the stack pointer whose saved registers equal the thread's current ones. */
export function findDeadSignalFrame(
  registers: Record<string, bigint>,
  memory: MemoryReader,
): DeadSignalFrame | undefined {
  const top = Number(registers['rsp']);
  const last = top - RT_SIGFRAME_SIZE;
  for (let at = last - (last % 8); at > top - searchBytes && memory.has(at, RT_SIGFRAME_SIZE); at -= 8) {
    if (memory.readBigWord(at + RIP) !== registers['rip']) continue;
    if (memory.readBigWord(at + RSP) !== registers['rsp']) continue;
    if (!savedRegisters.every(([name, o]) => memory.readBigWord(at + UC_MCONTEXT + o) === registers[name]))
      continue;
    // Reads the whole frame, so that a mini core includes it: its first bytes may be on another page.
    memory.readBytes(at, RT_SIGFRAME_SIZE);
    return {
      address: at,
      trap: memory.readUint32(at + TRAPNO),
      errorCode: memory.readUint32(at + ERR),
      faultAddress: memory.readBigWord(at + CR2),
      ...senderIn(memory, at + RT_SIGFRAME_INFO),
    };
  }
  return undefined;
}

/** From a handler's siginfo_t. A handler without SA_SIGINFO has none; then there are zeros or stale bytes. */
function senderIn(memory: MemoryReader, info: number): { sender?: SignalSender } {
  const isFilled = memory.readUint32(info) === SIGSEGV;
  if (!isFilled || !senderCodes.includes(memory.readInt32(info + SI_CODE))) return {};
  return { sender: { pid: memory.readUint32(info + SI_PID), uid: memory.readUint32(info + SI_UID) } };
}

/**
 * Fields of struct ucontext that identify it: no linked context, the code segment of user space, the vector registers next to
 * it.
 */
const UC_LINK = 16;
const CS = UC_MCONTEXT + 144;
const FPSTATE = UC_MCONTEXT + 184;
const userCode = 0x33;

export interface HandlerFrame extends SignalFrame {
  /** The address that the handler returns to. */
  returnAddress: bigint;
  /** The registers when the signal arrived. */
  registers: Record<string, bigint>;
}

/** All positions in a stack's bytes that have the form of a handler's frame. `from` is the address of the first byte. */
export function* handlerFramesIn(stack: Buffer, from: number): Generator<HandlerFrame> {
  for (let i = 0; i + RT_SIGFRAME_SIZE <= stack.length; i += 8) {
    if (stack.readUInt16LE(i + CS) !== userCode || stack.readBigUInt64LE(i + UC_LINK) !== 0n) continue;
    const at = from + i;
    const isAbove = (address: bigint) => address > at && address <= at + searchBytes;
    if (!isAbove(stack.readBigUInt64LE(i + FPSTATE)) || !isAbove(stack.readBigUInt64LE(i + RSP))) continue;
    yield {
      address: at,
      trap: stack.readUInt32LE(i + TRAPNO),
      errorCode: stack.readUInt32LE(i + ERR),
      faultAddress: stack.readBigUInt64LE(i + CR2),
      returnAddress: stack.readBigUInt64LE(i),
      registers: Object.fromEntries(
        savedRegisters.map(([name, o]) => [name, stack.readBigUInt64LE(i + UC_MCONTEXT + o)]),
      ),
    };
  }
}

/** Range below and above the stack pointer that may contain the frame of a running handler. */
export const frameSearchBytes = searchBytes;
