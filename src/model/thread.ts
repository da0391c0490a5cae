/** Threads and their frames, independent of the format that they were read from. */

/** How a frame was found; from the most to the least certain. */
export type FrameTrust =
  | 'context'
  | 'cfi'
  | 'instructions'
  | 'frame-pointer'
  | 'stack-text'
  | 'inspector'
  | 'heap'
  | 'scan';

/** Lines and columns are 1-based. */
export interface SourcePosition {
  file: string;
  line: number;
  column: number;
}

export interface SourceLine {
  /** 1-based. */
  line: number;
  text: string;
  /** 1-based column of the text's first character, when the line was cut at its start. */
  startColumn?: number;
  /** Length of the whole line in UTF-16 units, when it was cut. */
  lengthChars?: number;
}

export interface LocalVariable {
  name: string;
  /** `local`, `closure`, `block`, `this`, `argument`… as the debugger names the scope. */
  scope: string;
  /** A short rendering; `(optimised away)` where the engine kept no value. */
  value: string;
}

export interface Frame {
  function?: string;
  /** After source maps. Absent for native and wasm frames without a position. */
  file?: string;
  line?: number;
  column?: number;
  /** Where the running code was, when it is not the source: before source maps. */
  generated?: SourcePosition;
  /** The program's own code: not node:, not node_modules. */
  inApp: boolean;
  trust: FrameTrust;
  /** Reached through an await (`at async …`), not through the machine stack. */
  async?: boolean;
  locals?: LocalVariable[];
  /** How V8 was running the function: `interpreter`, `baseline`, `maglev`, `turbofan`, or its own `builtin`. */
  tier?: string;
  /** Compiled into its caller: it has no place of its own on the machine stack. */
  inlined?: boolean;
  /** A few lines around the position. */
  source?: SourceLine[];
  module?: string;
  address?: string;
}

export interface Thread {
  id: number | string;
  name?: string;
  kind: 'main' | 'worker' | 'native' | 'child';
  crashed: boolean;
  state?: string;
  registers?: Record<string, string>;
  frames: Frame[];
}
