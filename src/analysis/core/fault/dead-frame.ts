/**
 * Reads a fault from the signal frame of a handler that has returned: on x86-64 trap number and error code, on arm64 the
 * exception syndrome (Arm Architecture Reference Manual, ESR_EL1).
 */
import type { MemoryReader } from '../../../bytes/memory.ts';
import type { CoreFile, CoreThread } from '../../../formats/elf-core/core-contents.ts';
import { faultCodes } from '../../../formats/elf-core/layout.ts';
import {
  findDeadSignalFrame,
  GENERAL_PROTECTION,
  PAGE_FAULT,
} from '../../../formats/elf-core/signal-frame.ts';
import {
  type DeadSignalFrameArm64,
  findDeadSignalFrameArm64,
} from '../../../formats/elf-core/signal-frame-arm64.ts';
import type { Access, FaultFacts } from './fault-facts.ts';

export type DeadFault = Pick<FaultFacts, 'code' | 'address' | 'access' | 'sender'>;

const SIGSEGV = 11;
/** Exception classes: instruction abort and data abort from user space. */
const INSTRUCTION_ABORT = 0x20;
const DATA_ABORT = 0x24;
/** Write not Read: set for a write. */
const WNR = 1n << 6n;

/** Undefined if there is no such frame, or if it doesn't show what happened. */
export function findDeadFault(
  { machine }: CoreFile,
  { registers }: CoreThread,
  memory: MemoryReader,
): DeadFault | undefined {
  if (machine === 'x64') return findX64(registers, memory);
  const frame = findDeadSignalFrameArm64(registers, memory);
  return frame && describeArm64(frame, registers['pc']);
}

function findX64(registers: Record<string, bigint>, memory: MemoryReader): DeadFault | undefined {
  const frame = findDeadSignalFrame(registers, memory);
  if (frame?.sender) return { code: 'SI_USER', sender: frame.sender };
  if (frame?.trap === PAGE_FAULT)
    return {
      code: frame.errorCode & 1 ? 'SEGV_ACCERR' : 'SEGV_MAPERR',
      address: frame.faultAddress,
      access: frame.errorCode & 16 ? 'execute' : frame.errorCode & 2 ? 'write' : 'read',
    };
  return frame?.trap === GENERAL_PROTECTION ? { code: 'SI_KERNEL' } : undefined;
}

/** Without the syndrome, reads and writes can't be distinguished. */
function describeArm64(
  { code, sender, faultAddress, syndrome }: DeadSignalFrameArm64,
  pc: bigint | undefined,
): DeadFault | undefined {
  if (sender) return { code: 'SI_USER', sender };
  const isJump = syndrome === undefined && faultAddress === pc;
  const access = isJump ? 'execute' : syndrome === undefined ? undefined : accessOf(syndrome);
  const name = code === undefined ? undefined : faultCodes[SIGSEGV]?.[code];
  if (!name && !access) return undefined;
  return { address: faultAddress, ...(name ? { code: name } : {}), ...(access ? { access } : {}) };
}

function accessOf(syndrome: bigint): Access | undefined {
  const exceptionClass = Number((syndrome >> 26n) & 0x3fn);
  if (exceptionClass === INSTRUCTION_ABORT) return 'execute';
  if (exceptionClass !== DATA_ABORT) return undefined;
  return syndrome & WNR ? 'write' : 'read';
}
