/** The memory of a core as one looks around in it. */
export interface MemoryRegion {
  start: number;
  end: number;
  /** `rw-`, as in /proc/<pid>/maps. */
  access: string;
  /** A file, the stack of a thread, or nothing. */
  name: string;
  /** How much of it can be read, from the core or from the mapped file. */
  presentBytes: number;
}

/** What a word refers to, if it is an address. */
export interface Referent {
  kind: 'object' | 'code' | 'stack' | 'memory';
  /** The object on one line, a symbol with a distance, or the name of the region. */
  text: string;
}

export interface MemoryWord {
  address: number;
  /** Eight bytes in hex, in the order of memory; absent if they are not in the core. */
  bytes?: string;
  /** The same as text, with a dot for what isn't any. */
  text?: string;
  /** As a little-endian number, `0x…`. */
  value?: string;
  refersTo?: Referent;
}

export interface ThreadRegisters {
  id: number | string;
  name: string;
  crashed: boolean;
  registers: { name: string; value: string }[];
  /** The topmost frames with an address. */
  frames: { function: string; address: string }[];
}
