/**
 * Recognises a thread that repeats a fault for ever (in hold mode the handler returns, so the instruction is executed again).
 * The only evidence is on its stack: the frame that the kernel pushed for the handler, with the same registers each time.
 * Linux x86-64. Sources: formats/elf-core/signal-frame.ts, arch/x86/include/asm/trapnr.h.
 */
import { closeSync, readSync } from 'node:fs';
import { constants } from 'node:os';
import type { X64Register } from '../../formats/elf-core/layout.ts';
import {
  frameSearchBytes,
  GENERAL_PROTECTION,
  type HandlerFrame,
  handlerFramesIn,
  PAGE_FAULT,
} from '../../formats/elf-core/signal-frame.ts';
import {
  type LiveThread,
  openMemory,
  readMappings,
  readState,
  readThreads,
  resume,
  stop,
} from './live-process.ts';

export interface HeldThread {
  tid: number;
  /** At the time of the fault. */
  registers: Partial<Record<X64Register, bigint>>;
  /** Signal number and si_code that the kernel would have reported. */
  signal: number;
  code: number;
  address: bigint;
}

const { SIGSEGV, SIGBUS, SIGFPE, SIGILL } = constants.signals;
const SI_KERNEL = 128;
const BUS_ADRERR = 2;
/** Signal and si_code of the processor traps that always have the same ones. */
const traps: Record<number, readonly [signal: number, code: number]> = {
  0: [SIGFPE, 1],
  6: [SIGILL, 2],
  12: [SIGBUS, SI_KERNEL],
  [GENERAL_PROTECTION]: [SIGSEGV, SI_KERNEL],
  16: [SIGFPE, SI_KERNEL],
  17: [SIGBUS, 1],
  19: [SIGFPE, SI_KERNEL],
};
/** `mov $15, %rax; syscall`: the return from a signal handler (__restore_rt of the C library). */
const wayBack = Buffer.from('48c7c00f0000000f05', 'hex');

/** Stops the process for a moment. A result only counts if the next call finds the same fault. Throws errors of /proc. */
export function lookForFault(pid: number): HeldThread | undefined {
  if (readState(pid, pid) === 'T') return undefined;
  const memory = openMemory(pid);
  try {
    stop(pid, []);
    for (const thread of readThreads(pid).threads) {
      const frame = findFrame(memory, thread);
      if (frame) return describe(pid, thread.tid, frame);
    }
    return undefined;
  } finally {
    resume(pid);
    closeSync(memory);
  }
}

export function isSameFault(a: HeldThread, b: HeldThread): boolean {
  const names = Object.keys(a.registers) as X64Register[];
  return a.tid === b.tid && a.address === b.address && names.every((n) => a.registers[n] === b.registers[n]);
}

/**
 * While the handler runs, the frame is above the stack pointer. Between two rounds it is below, and the current registers are
 * those of the frame.
 */
function findFrame(memory: number, { stackPointer, programCounter }: LiveThread): HandlerFrame | undefined {
  const sp = Number(stackPointer);
  const start = sp - frameSearchBytes - (sp % 8);
  if (start <= 0) return undefined;
  const stack = readStack(memory, start, 2 * frameSearchBytes);
  for (const frame of handlerFramesIn(stack, start)) {
    const isOver = frame.address < sp - 8;
    const { rsp, rip } = frame.registers;
    if (isOver && (rsp !== stackPointer || rip !== programCounter)) continue;
    if (frame.trap !== PAGE_FAULT && !(frame.trap in traps)) continue;
    if (readStack(memory, Number(frame.returnAddress), wayBack.length).equals(wayBack)) return frame;
  }
  return undefined;
}

/** Returns fewer bytes if the stack ends before. */
function readStack(memory: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, length, address));
  } catch {
    return bytes.subarray(0, 0);
  }
}

function describe(pid: number, tid: number, frame: HandlerFrame): HeldThread {
  const [signal, code] = traps[frame.trap] ?? judgePageFault(pid, frame);
  const address = frame.trap === PAGE_FAULT ? frame.faultAddress : (frame.registers['rip'] ?? 0n);
  return { tid, registers: frame.registers, signal, code, address };
}

/** A mapped page that permits the access and still faults is beyond the end of its file: SIGBUS. */
function judgePageFault(pid: number, { errorCode, faultAddress }: HandlerFrame): readonly [number, number] {
  const at = Number(faultAddress);
  const mapping = readMappings(pid).find(({ start, end }) => at >= start && at < end);
  const isAllowed =
    errorCode & 16 ? mapping?.executable : errorCode & 2 ? mapping?.writable : mapping?.readable;
  if (isAllowed && mapping?.path.startsWith('/')) return [SIGBUS, BUS_ADRERR];
  return [SIGSEGV, errorCode & 1 ? 2 : 1];
}
