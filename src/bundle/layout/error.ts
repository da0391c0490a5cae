/**
 * The parts that describe what was thrown and where: the error with its causes, the frames with their variables, and the
 * stacks of workers. Names and units are those of the files; FORMAT.md says how a part gets into a bundle.
 */

/** `error.json`: the thrown value, of any type. */
export interface ErrorPart {
  error: SerializedError;
  /**
   * The positions of the stack as V8 has them, whatever Error.prepareStackTrace returned. Lines and columns are 1-based.
   */
  frames?: RawFrame[];
  /** Where the rejected promise was created or rejected, if known. */
  promiseStack?: string;
  /**
   * The value was emitted as an `error` event without a listener: the class of the emitter, the stack of the emit, and for
   * a stream its file, for a Worker the thread that threw it.
   */
  emitter?: {
    className: string;
    stack: string;
    path?: string;
    /** The descriptor, for a standard stream of the process. */
    stdio?: number;
    worker?: { threadId: number; name?: string };
  };
  /** For the error of a write: the descriptor of the standard stream to which the last write failed for the same reason. */
  failedStdio?: number;
  /** Where the program started what failed (a request, a connection, a child), found by the error or its emitter. */
  begun?: { what: string; stack: string };
  /** For an error of an abort that does not contain it: the reasons with which signals of the process were aborted. */
  abortReasons?: SerializedError[];
  /** For a SyntaxError whose stack has no position: where the module's syntax is wrong. 1-based. */
  place?: { url: string; line: number; column: number; sourceLine: string };
}

export interface SerializedError {
  /** typeof the value; `object` for errors. */
  type: string;
  isError: boolean;
  name?: string;
  /** Name of the constructor, which Node prints if `name` is still `Error`. */
  className?: string;
  message?: string;
  /** The stack as the host would have printed it. */
  stack?: string;
  code?: string | number;
  /** The string form of a thrown value that is no error. */
  text?: string;
  /** Its other own properties. Values are cut by depth, count and size. */
  properties?: Record<string, unknown>;
  cause?: SerializedError;
  errors?: SerializedError[];
  /** What could not be read or was cut, for example `stack: getter threw`. */
  gaps?: string[];
}

export interface RawFrame {
  functionName: string;
  scriptId: string;
  url: string;
  line: number;
  column: number;
}

/** `locals.json`: the frames at the throw with their variables, if the debugger was armed. */
export interface LocalsPart {
  frames: (RawFrame & {
    scopes: { type: string; name?: string; variables: { name: string; value: string }[] }[];
  })[];
}

/** `worker-stacks.json`: frames as in `locals.json`, innermost first; none for an idle worker. */
export interface WorkerStacksPart {
  workers: {
    workerId: string;
    title: string;
    url: string;
    idle: boolean;
    frames: LocalsPart['frames'];
  }[];
}
