/** What is searched for references from outside of V8's heap, and what is found. */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import type { Range } from './native-words.ts';

export interface RootReference {
  target: number;
  isWeak: boolean;
}

export interface RootGroup {
  name: string;
  references: RootReference[];
}

export interface RootSources {
  memory: MemoryReader;
  /** Addresses of the heaps, which are members of their isolates. */
  heaps: readonly number[];
  /** Writable memory of the process, without V8's pages. */
  native: readonly Range[];
  /** The used part of each thread's stack. */
  stacks: readonly Range[];
}
