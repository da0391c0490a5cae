/**
 * The frame that the kernel pushes on the stack for a signal handler, x86-64. After the handler has returned its bytes
 * stay below the stack pointer until something overwrites them. Node's WebAssembly trap handler answers a fault by
 * raising the signal again, so the kernel's own note then says "sent by tkill" and no address: the frame of that
 * handler still holds the truth (gdb does not look there). Sources: arch/x86/include/asm/sigframe.h,
 * uapi/asm/sigcontext.h, uapi/asm-generic/ucontext.h.
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

/** The kernel leaves 128 bytes below the stack pointer alone, then puts the vector registers (11 KB with AMX). */
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
   * Who sent the signal; absent for a fault. With a sender the trap is that of an older fault, if of any: a signal that
   * is sent leaves the processor's last words as they were.
   */
  sender?: SignalSender;
}

export interface SignalFrame {
  /** Where the frame lies. */
  address: number;
  /** Number of the processor's trap. */
  trap: number;
  /** For a page fault: bit 0 the page was there, bit 1 write, bit 4 instruction fetch. */
  errorCode: number;
  /** The address of the last page fault (CR2). */
  faultAddress: bigint;
}

/** The frame below the stack pointer whose saved registers are all those that the thread has now. */
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
    // Whole, so that a mini core keeps what proves it: its first bytes may lie on a page of their own.
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

/** Of a handler's siginfo_t. One that was installed without SA_SIGINFO has none, which reads as zeros or as leftovers. */
function senderIn(memory: MemoryReader, info: number): { sender?: SignalSender } {
  const isFilled = memory.readUint32(info) === SIGSEGV;
  if (!isFilled || !senderCodes.includes(memory.readInt32(info + SI_CODE))) return {};
  return { sender: { pid: memory.readUint32(info + SI_PID), uid: memory.readUint32(info + SI_UID) } };
}

/** Of struct ucontext: no other context behind it, the code segment of user space, the vector registers beside it. */
const UC_LINK = 16;
const CS = UC_MCONTEXT + 144;
const FPSTATE = UC_MCONTEXT + 184;
const userCode = 0x33;

export interface HandlerFrame extends SignalFrame {
  /** Where the handler returns to. */
  returnAddress: bigint;
  /** As they were when the signal came. */
  registers: Record<string, bigint>;
}

/** Every place of a stack's bytes (`from` is the address of their first) that has the form of a handler's frame. */
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

/** How much of a stack, below and above its pointer, may hold the frame of a handler that runs. */
export const frameSearchBytes = searchBytes;
