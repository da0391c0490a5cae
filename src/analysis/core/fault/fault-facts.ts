/** What is known of a fault: its facts, and what they come to. */
import type { CoreSegment } from '../../../formats/elf-core/core-contents.ts';
import type { SignalSender } from '../../../formats/elf-core/signal-frame.ts';

export type Access = 'read' | 'write' | 'execute';

/** What a fault is, for people and for rules. */
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
  /** Hex is for printing; absent where the processor does not say. */
  address?: bigint;
  access?: Access;
  /** Absent where nobody sent the signal, or nobody knows who. */
  sender?: SignalSender;
  /** Bytes from the instruction that faulted. */
  instruction?: Uint8Array;
  /** The kernel's own note, or a signal frame found on the stack. */
  evidence: 'kernel-note' | 'signal-frame' | 'registers';
}

/** Before it has a name. */
export interface FaultFacts {
  signal: number;
  code?: string;
  address?: bigint;
  access?: Access;
  sender?: SignalSender;
  /** Of the process that died; absent in a core without its note. */
  pid?: number;
  pc: number;
  sp: number;
  instruction?: Uint8Array;
  evidence: Fault['evidence'];
  /** The mapping that holds an address. */
  find(address: number): CoreSegment | undefined;
}
