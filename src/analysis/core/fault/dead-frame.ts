/**
 * What the frame of a handler that has returned tells of a fault, in the terms of each machine: the trap and the error
 * code of x86-64, the exception syndrome of arm64 (Arm Architecture Reference Manual, ESR_EL1).
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
/** Exception classes: an instruction or a data abort of user space. */
const INSTRUCTION_ABORT = 0x20;
const DATA_ABORT = 0x24;
/** Write, not read. */
const WNR = 1n << 6n;

/** Undefined where there is no frame, or where it does not say what happened. */
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

/** Without the syndrome nothing tells a read from a write. */
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
