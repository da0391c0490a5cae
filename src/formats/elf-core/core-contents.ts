/** The parsed contents of a core file. */
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { CoreMachine } from './layout.ts';
import type { SignalSender } from './signal-frame.ts';

export interface CoreThread {
  /** The kernel's thread id. */
  tid: number;
  /** Signal that this thread was handling; 0 for none. */
  signal: number;
  /** By the machine's register names: `rip`, `x30`. */
  registers: Record<string, bigint>;
  programCounter: number;
  stackPointer: number;
}

/** A mapping of a file. */
export interface MappedFile {
  start: number;
  end: number;
  /** In bytes. */
  fileOffset: number;
  path: string;
}

/** A range of the process's memory; the first `fileSize` bytes are present. */
export interface CoreSegment {
  start: number;
  end: number;
  readable: boolean;
  writable: boolean;
  executable: boolean;
  fileOffset: number;
  fileSize: number;
}

export interface SignalNote {
  number: number;
  code: number;
  address: bigint;
  /** For a signal that a program sent; 0 for a process outside of this one's namespace. */
  sender?: SignalSender;
  /** Number of the system call that a seccomp filter refused. */
  systemCall?: number;
}

export interface CoreFile {
  source: ByteSource;
  machine: CoreMachine;
  /** In file order: the thread that died comes first. */
  threads: CoreThread[];
  segments: CoreSegment[];
  files: MappedFile[];
  signal?: SignalNote;
  process?: { pid: number; parentPid: number; uid: number; program: string; arguments: string };
  /** Auxiliary vector by AT_ number. */
  auxiliary: Map<number, bigint>;
  /** The bits of a code address that contain an arm64 pointer signature, if the kernel recorded them. */
  signatureBits?: bigint;
  /** The notes as in the file. */
  notes: Uint8Array;
  /** agentdump's own notes by type: what a mini core contains about the heap that was left out. */
  own: Map<number, Uint8Array>;
  /** Sentences about data that is truncated or could not be read. */
  problems: string[];
}
