/** What a core file holds, once read. */
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { CoreMachine } from './layout.ts';
import type { SignalSender } from './signal-frame.ts';

export interface CoreThread {
  /** The kernel's thread id. */
  tid: number;
  /** Signal that this thread was handling; 0 for none. */
  signal: number;
  /** By the names of the machine: `rip`, `x30`. */
  registers: Record<string, bigint>;
  programCounter: number;
  stackPointer: number;
}

/** One mapping of a file. */
export interface MappedFile {
  start: number;
  end: number;
  /** Bytes into the file. */
  fileOffset: number;
  path: string;
}

/** A range of the process's memory: present as far as `fileSize` goes. */
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
  /** Of a signal that a program sent; 0 for a process outside of this one's namespace. */
  sender?: SignalSender;
}

export interface CoreFile {
  source: ByteSource;
  machine: CoreMachine;
  /** In the order of the file: the thread that died comes first. */
  threads: CoreThread[];
  segments: CoreSegment[];
  files: MappedFile[];
  signal?: SignalNote;
  process?: { pid: number; parentPid: number; uid: number; program: string; arguments: string };
  /** Auxiliary vector by its AT_ numbers. */
  auxiliary: Map<number, bigint>;
  /** The bits of a code address in which arm64 keeps a signature, where the kernel noted them. */
  signatureBits?: bigint;
  /** The notes as they are in the file. */
  notes: Uint8Array;
  /** Notes of agentdump's own, by type: what a mini core keeps of a heap that it left behind. */
  own: Map<number, Uint8Array>;
  /** Sentences on what is cut off or could not be read. */
  problems: string[];
}
