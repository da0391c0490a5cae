/**
 * The parts that hold what was thrown and where: the error with its causes, the frames with their variables, the stacks
 * of workers. Spelling and units are those of the files; FORMAT.md says how a part comes into a bundle.
 */

/** `error.json`: the thrown value, whatever it was. */
export interface ErrorPart {
  error: SerializedError;
  /** Positions of the stack as V8 holds them, whatever Error.prepareStackTrace printed. Lines and columns 1-based. */
  frames?: RawFrame[];
  /** Where the rejected promise was made or rejected, where known. */
  promiseStack?: string;
  /** It was the value of an `error` event without a listener: the class of what emitted it, the stack of the emit, and the file of a stream. */
  emitter?: { className: string; stack: string; path?: string };
  /** Where the program began what failed: a request, a connection, a child, by the error object or what emitted it. */
  begun?: { what: string; stack: string };
  /** Of a SyntaxError whose stack does not say it: where the module ceases to be JavaScript. 1-based. */
  place?: { url: string; line: number; column: number; sourceLine: string };
}

export interface SerializedError {
  /** typeof the value; `object` for errors. */
  type: string;
  isError: boolean;
  name?: string;
  /** Name of the constructor, which Node prints where `name` was left at `Error`. */
  className?: string;
  message?: string;
  /** The stack's text as the host would have printed it. */
  stack?: string;
  code?: string | number;
  /** String form of a thrown value that is no error. */
  text?: string;
  /** Own properties but those above. Values cut by depth, count and size. */
  properties?: Record<string, unknown>;
  cause?: SerializedError;
  errors?: SerializedError[];
  /** What could not be read or was cut, e.g. `stack: getter threw`. */
  gaps?: string[];
}

export interface RawFrame {
  functionName: string;
  scriptId: string;
  url: string;
  line: number;
  column: number;
}

/** `locals.json`: frames of the throw point with their variables, when the debugger was armed. */
export interface LocalsPart {
  frames: (RawFrame & {
    scopes: { type: string; name?: string; variables: { name: string; value: string }[] }[];
  })[];
}

/** `worker-stacks.json`: frames as in `locals.json`, innermost first; none of a worker that was idle. */
export interface WorkerStacksPart {
  workers: {
    workerId: string;
    title: string;
    url: string;
    idle: boolean;
    frames: LocalsPart['frames'];
  }[];
}
