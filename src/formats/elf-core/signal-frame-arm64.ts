/**
 * The frame that the kernel pushes on the stack for a signal handler on arm64: siginfo_t, then struct ucontext. It remains
 * after the handler has returned, as described in signal-frame.ts. Sources: arch/arm64/kernel/signal.c (struct rt_sigframe),
 * arch/arm64/include/uapi/asm/sigcontext.h and ucontext.h.
 */
import type { MemoryReader } from '../../bytes/memory.ts';
import { SI_ADDR, SI_CODE, SI_PID, SI_UID, senderCodes } from './layout.ts';
import type { SignalSender } from './signal-frame.ts';

/** Offsets from the start of struct rt_sigframe. */
const UCONTEXT = 128;
const MCONTEXT = UCONTEXT + 176;
const FAULT_ADDRESS = MCONTEXT;
const REGS = MCONTEXT + 8;
const SP = REGS + 31 * 8;
const PC = SP + 8;
/** Records of the processor's state: magic word, size and contents of each, terminated by a record of zeros. */
const RECORDS = MCONTEXT + 288;
const RECORDS_SIZE = 4096;
const ESR_MAGIC = 0x45535201;
const RT_SIGFRAME_SIZE = RECORDS + RECORDS_SIZE;
/** The frame, and a frame record above it; vector registers of SVE and SME may add some kilobytes. */
const searchBytes = 64 * 1024;
const step = 16;
const generalRegisters = 31;
const SIGSEGV = 11;

/**
 * Registers of the code that the frame at the stack pointer interrupted, by DWARF number: x0 to x30, sp, pc. Throws
 * AbsentMemory.
 */
export function readInterruptedRegisters(at: number, memory: MemoryReader): [number, bigint][] {
  return Array.from({ length: generalRegisters + 2 }, (_, i) => [i, memory.readBigWord(at + REGS + i * 8)]);
}

export interface DeadSignalFrameArm64 {
  /** Address of the frame. */
  address: number;
  faultAddress: bigint;
  /** The exception syndrome register (ESR_EL1), if the kernel saved it. */
  syndrome?: bigint;
  /** From the handler's siginfo_t, if it has one. */
  code?: number;
  /** The sender of the signal; absent for a fault. */
  sender?: SignalSender;
}

/** The frame below the stack pointer whose saved registers equal the thread's current ones. */
export function findDeadSignalFrameArm64(
  registers: Record<string, bigint>,
  memory: MemoryReader,
): DeadSignalFrameArm64 | undefined {
  const { pc, sp } = registers;
  const top = Number(sp);
  const last = top - RT_SIGFRAME_SIZE;
  for (let at = last - (last % step); at > top - searchBytes && memory.has(at, RECORDS); at -= step) {
    if (memory.readBigWord(at + PC) !== pc || memory.readBigWord(at + SP) !== sp) continue;
    const isSame = (_: unknown, i: number) => memory.readBigWord(at + REGS + i * 8) === registers[`x${i}`];
    if (!Array.from({ length: generalRegisters }).every(isSame)) continue;
    const syndrome = findSyndrome(memory, at);
    return {
      address: at,
      faultAddress: memory.readBigWord(at + FAULT_ADDRESS),
      ...(syndrome === undefined ? {} : { syndrome }),
      ...informationIn(memory, at),
    };
  }
  return undefined;
}

function findSyndrome(memory: MemoryReader, frame: number): bigint | undefined {
  for (let at = RECORDS; at + 16 <= RECORDS + RECORDS_SIZE && memory.has(frame + at, 16); ) {
    const magic = memory.readUint32(frame + at);
    const size = memory.readUint32(frame + at + 4);
    if (magic === ESR_MAGIC) return memory.readBigWord(frame + at + 8);
    if (magic === 0 || size < 8 || size % 8 !== 0) return undefined;
    at += size;
  }
  return undefined;
}

/** A handler that was installed without SA_SIGINFO has no siginfo_t. */
function informationIn(memory: MemoryReader, info: number): Partial<DeadSignalFrameArm64> {
  if (memory.readUint32(info) !== SIGSEGV) return {};
  const code = memory.readInt32(info + SI_CODE);
  if (!senderCodes.includes(code)) return { code, faultAddress: memory.readBigWord(info + SI_ADDR) };
  return { code, sender: { pid: memory.readUint32(info + SI_PID), uid: memory.readUint32(info + SI_UID) } };
}
