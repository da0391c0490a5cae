/** The facts of a fault, and the classified fault. */
import type { CoreSegment } from '../../../formats/elf-core/core-contents.ts';
import type { SignalSender } from '../../../formats/elf-core/signal-frame.ts';

export type Access = 'read' | 'write' | 'execute';

/** The class of a fault, for people and for rules. */
export type FaultKind =
  | 'null-dereference'
  | 'wild-access'
  | 'wild-jump'
  | 'write-to-read-only'
  | 'no-permission'
  | 'non-canonical-address'
  | 'privileged-instruction'
  | 'stack-overflow'
  | 'illegal-instruction'
  | 'arithmetic'
  | 'bus-error'
  | 'trap'
  | 'abort'
  | 'refused-call'
  | 'limit-reached'
  | 'sent-signal'
  | 'own-signal'
  | 'none';

export interface Fault {
  kind: FaultKind;
  /** One clause: "write to the null pointer at offset 0x18". */
  description: string;
  signal: number;
  signalName: string;
  code?: string;
  /** Absent if the processor doesn't report one. */
  address?: bigint;
  access?: Access;
  /** Absent if the signal was not sent, or its sender is unknown. */
  sender?: SignalSender;
  /** Bytes starting at the instruction that faulted. */
  instruction?: Uint8Array;
  /** The source: the kernel's note, a signal frame on the stack, or only the registers. */
  evidence: 'kernel-note' | 'signal-frame' | 'registers';
}

/** A fault before it is classified. */
export interface FaultFacts {
  signal: number;
  code?: string;
  address?: bigint;
  access?: Access;
  sender?: SignalSender;
  /** The system call that a filter refused, as on this machine. */
  systemCall?: string;
  /** Name of the file that is mapped at the address. */
  mappedFile?: string;
  /** Pid of the process that died; absent in a core without that note. */
  pid?: number;
  pc: number;
  sp: number;
  instruction?: Uint8Array;
  evidence: Fault['evidence'];
  /** The segment that contains an address. */
  find(address: number): CoreSegment | undefined;
}
