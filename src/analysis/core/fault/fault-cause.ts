/** Classifies a fault from its facts; the tests run from the most specific to the most general. Pure. */
import { assertNever } from '../../../errors.ts';
import type { Access, FaultFacts, FaultKind } from './fault-facts.ts';

/** Addresses below this are a null pointer plus the offset of a field. */
const nullZone = 0x10000n;
/** A stack pointer within this distance of the end of its stack has overflowed: a frame, a guard page, a red zone. */
const overflowZone = 64 * 1024;
const leastGrownStack = 256 * 1024;
const HLT = 0xf4;
const limits = {
  24: 'the process used more processor time than its limit (RLIMIT_CPU)',
  25: 'a file would have grown beyond the limit for files (RLIMIT_FSIZE)',
};

export interface Cause {
  kind: FaultKind;
  description: string;
}

export function describeCause(facts: FaultFacts): Cause {
  const sent = describeSender(facts);
  if (sent) return sent;
  switch (facts.signal) {
    case 4:
      return { kind: 'illegal-instruction', description: `illegal instruction at ${hex(BigInt(facts.pc))}` };
    case 5:
      return {
        kind: 'trap',
        description: 'a breakpoint instruction: a check compiled into the program, or V8, failed',
      };
    case 6:
      return { kind: 'abort', description: 'the process aborted itself' };
    case 7:
      return { kind: 'bus-error', description: describeBusError(facts) };
    case 8:
      return { kind: 'arithmetic', description: describeArithmetic(facts.code) };
    case 11:
      return describeSegmentationFault(facts);
    case 31:
      if (facts.systemCall !== undefined)
        return {
          kind: 'refused-call',
          description: `a seccomp filter does not allow the system call ${facts.systemCall}`,
        };
      break;
    case 24:
    case 25:
      if (facts.code === 'SI_KERNEL') return { kind: 'limit-reached', description: limits[facts.signal] };
      break;
  }
  return { kind: 'sent-signal', description: describeUnsent(facts.code) };
}

/**
 * Undefined if the process raised the signal itself through `abort`; then its stack shows why. Node's handler for faults
 * raises the signal again in the same way.
 */
function describeSender({ sender, pid, code }: FaultFacts): Cause | undefined {
  if (!sender) return undefined;
  const sent = (description: string): Cause => ({ kind: 'sent-signal', description });
  if (sender.pid === 0) return sent('sent from outside of its pid namespace');
  if (sender.pid !== pid) return sent(`sent by process ${sender.pid} (user ${sender.uid})`);
  if (code === 'SI_TKILL') return undefined;
  return { kind: 'own-signal', description: 'sent by the program to itself' };
}

function describeBusError({ code, address, mappedFile }: FaultFacts): string {
  const where = `bus error at ${address === undefined ? 'an unknown address' : hex(address)}`;
  if (code === 'BUS_ADRALN') return `${where}: a misaligned access`;
  if (code === 'BUS_ADRERR' && mappedFile)
    return `${where}: the mapped file ${mappedFile} was cut short or can't be read`;
  return `${where}: a mapped file that was cut short, or a misaligned access`;
}

function describeUnsent(code: string | undefined): string {
  if (code === 'SI_KERNEL') return 'sent by the kernel, as for a key at the terminal';
  return 'a signal that another process or the program itself sent';
}

function describeArithmetic(code: string | undefined): string {
  if (code === 'FPE_INTDIV') return 'integer division by zero';
  if (code === 'FPE_INTOVF') return 'integer overflow';
  return 'arithmetic exception';
}

function describeSegmentationFault(facts: FaultFacts): Cause {
  const overflow = describeOverflow(facts);
  if (overflow) return overflow;
  if (facts.address === undefined) return describeWithoutAddress(facts);
  if (facts.access === 'execute') return describeJump(facts.address);
  const where = hex(facts.address);
  const verb = verbOf(facts.access);
  if (facts.address < nullZone)
    return {
      kind: 'null-dereference',
      description: `${verb} through a null pointer${facts.address === 0n ? '' : ` (a field at offset ${where})`}`,
    };
  const mapping = facts.find(Number(facts.address));
  if (facts.code === 'SEGV_ACCERR' && facts.access === 'write' && mapping && !mapping.writable)
    return { kind: 'write-to-read-only', description: `write to read-only memory at ${where}` };
  if (facts.code === 'SEGV_ACCERR')
    return {
      kind: 'no-permission',
      description: `${verb} at ${where}, which the mapping there does not allow`,
    };
  return { kind: 'wild-access', description: `${verb} at ${where}, where nothing is mapped` };
}

function describeJump(address: bigint): Cause {
  const what = address < 0x1000n ? 'a null function pointer' : hex(address);
  return { kind: 'wild-jump', description: `jump to ${what}, where there is no code` };
}

/** A general protection fault, for which the processor reports no address. */
function describeWithoutAddress(facts: FaultFacts): Cause {
  if (facts.instruction?.[0] === HLT)
    return {
      kind: 'privileged-instruction',
      description: 'an instruction that only the kernel may execute (hlt)',
    };
  if (facts.code === 'SI_KERNEL')
    return {
      kind: 'non-canonical-address',
      description: 'access through a value that cannot be an address (its upper bits are not alike)',
    };
  return {
    kind: 'sent-signal',
    description: 'sent by a program, or a fault whose details were overwritten',
  };
}

function describeOverflow(facts: FaultFacts): Cause | undefined {
  // The kernel had room below the stack pointer for the handler's frame, so the program had some too.
  if (facts.evidence === 'signal-frame') return undefined;
  const stack = facts.find(facts.sp);
  const usable = stack?.readable && stack.writable;
  const near = facts.address ?? BigInt(facts.sp);
  const distance = near - BigInt(facts.sp);
  const isStackAccess = distance > -BigInt(overflowZone) && distance < BigInt(overflowZone);
  if (!isStackAccess || facts.access === 'execute') return undefined;
  // The main thread's stack grows with its use from less than this size: near the current end of its mapping it isn't full.
  const isGrown = usable && stack.end - stack.start >= leastGrownStack;
  const ranOver = !usable || (isGrown && facts.sp - stack.start < overflowZone);
  const faultOutside = facts.address === undefined || !facts.find(Number(facts.address))?.writable;
  if (!ranOver || !faultOutside || facts.code === 'SI_TKILL') return undefined;
  return {
    kind: 'stack-overflow',
    description: `stack overflow: the stack pointer ${hex(BigInt(facts.sp))} is at the end of the thread's stack`,
  };
}

function verbOf(access: Access | undefined): string {
  switch (access) {
    case 'read':
    case 'write':
    case 'execute':
      return access;
    case undefined:
      return 'access';
    default:
      return assertNever(access, 'access');
  }
}

const hex = (value: bigint) => `0x${value.toString(16)}`;
