/**
 * The last that the program wrote to its standard output and error, without being seen: the streams keep all of their
 * properties and are made, as ever, when the program first asks for them; what passes the native handle below a pipe
 * or terminal is remembered. A file keeps its own lines; output written around the streams is not seen. See the README.
 */
import { fstatSync } from 'node:fs';

export type LogStream = 'stdout' | 'stderr';

export interface LogTail {
  /** The newest pieces, in order, as they were written. */
  pieces: string[];
  /** UTF-16 units in them. */
  held: number;
  /** Earlier ones are gone. */
  isCut: boolean;
  /** Everything that passed, in UTF-16 units or bytes. */
  written: number;
  /** When the last piece passed, or in a burst one of the seven before it; 0 before the first. */
  at: number;
  /** The output goes to something that is no pipe or terminal, and so cannot be followed. */
  isElsewhere?: true;
  /** What that file held, in bytes, when the program first asked for the stream: others wrote it. */
  targetHeld?: number;
}

export interface LogTap {
  readonly tails: Record<LogStream, LogTail>;
  /** Set by the flight recorder; called after a piece was added, but for the time until which it wants to hear nothing. */
  onWrite: ((stream: LogStream, at: number) => void) | undefined;
  /** Milliseconds since the epoch. */
  quietUntil: number;
  /** So many pieces may pass before the clock is read again. The flight recorder sets it to 0 with each of its ticks. */
  undated: number;
  undo(): void;
}

const keptChars = 32 * 1024;
/** Of lines of some words so many are dropped by whole pieces, which costs less than joining them. */
const manyPieces = 2048;
/** Reading the clock costs as much as all else that is done for a piece. */
const undatedInBurst = 7;
const { now } = Date;
const { apply } = Reflect;
const descriptors: Record<LogStream, number> = { stdout: 1, stderr: 2 };
const stringMethods = ['writeUtf8String', 'writeLatin1String', 'writeAsciiString', 'writeUcs2String'];

export function tapLogs(): LogTap {
  const newTail = (): LogTail => ({ pieces: [], held: 0, isCut: false, written: 0, at: 0 });
  const tap: LogTap = {
    tails: { stdout: newTail(), stderr: newTail() },
    onWrite: undefined,
    quietUntil: 0,
    undated: 0,
    undo: () => {
      tap.onWrite = undefined;
      for (const undo of undoings) undo();
    },
  };
  const undoings = (['stdout', 'stderr'] as const).map((name) => trapFirstUse(name, tap));
  return tap;
}

/** Until the program asks for the stream its getter is ours, with the name and length of Node's; then Node's again. */
function trapFirstUse(name: LogStream, tap: LogTap): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(process, name);
  const { get } = descriptor ?? {};
  if (!descriptor || !get || !descriptor.configurable) return () => {};
  let isFirst = true;
  const trap = function (this: unknown): unknown {
    const stream = Reflect.apply(get, this, []);
    if (isFirst) {
      isFirst = false;
      restore();
      follow(stream, name, tap);
    }
    return stream;
  };
  const restore = (): void => {
    if (Object.getOwnPropertyDescriptor(process, name)?.get === trap)
      Object.defineProperty(process, name, descriptor);
  };
  Object.defineProperty(trap, 'name', { value: get.name, configurable: true });
  Object.defineProperty(process, name, { ...descriptor, get: trap });
  return () => {
    isFirst = false;
    restore();
  };
}

type Write = (request: unknown, data: unknown, allBuffers?: unknown) => unknown;

function follow(stream: unknown, name: LogStream, tap: LogTap): void {
  try {
    const handle = (stream as { _handle?: Record<string, unknown> })._handle;
    if (typeof handle?.['writeUtf8String'] !== 'function') {
      tap.tails[name].isElsewhere = true;
      tap.tails[name].targetHeld = fstatSync(descriptors[name]).size;
      return;
    }
    const keep = (piece: unknown): void => keepPiece(tap, name, piece);
    for (const method of [...stringMethods, 'writeBuffer']) shadow(handle, method, keep);
    shadow(handle, 'writev', (data, allBuffers) => {
      const pieces = data as unknown[];
      for (let i = 0; i < pieces.length; i += allBuffers === true ? 1 : 2) keep(pieces[i]);
    });
  } catch {
    // A stream of another make: its lines are not seen.
  }
}

/** On the one object and hidden from enumeration. */
function shadow(
  handle: Record<string, unknown>,
  method: string,
  see: (data: unknown, allBuffers: unknown) => void,
): void {
  const original = handle[method] as Write | undefined;
  if (typeof original !== 'function') return;
  const value: Write = function (this: unknown, request, data, allBuffers) {
    see(data, allBuffers);
    return apply(original, this, [request, data, allBuffers]);
  };
  Object.defineProperty(handle, method, { value, configurable: true, writable: true, enumerable: false });
}

/** A text is kept as it is; a buffer may be used again by the program, so it is copied. Of a huge piece the end is enough. */
function keepPiece(tap: LogTap, name: LogStream, piece: unknown): void {
  const tail = tap.tails[name];
  const text = typeof piece === 'string' && piece.length <= keptChars ? piece : copyEnd(piece);
  if (text === undefined) return;
  const { length } = piece as string | Uint8Array;
  tail.pieces.push(text);
  tail.held += text.length;
  tail.written += length;
  if (length > keptChars) tail.isCut = true;
  if (tail.held > 2 * keptChars || tail.pieces.length > manyPieces) trim(tail);
  if (tap.undated > 0) tap.undated--;
  else date(tap, name, tail);
}

function date(tap: LogTap, name: LogStream, tail: LogTail): void {
  const at = now();
  // Nobody ends a burst where nothing ticks.
  if (at - tail.at <= 1 && tap.onWrite) tap.undated = undatedInBurst;
  tail.at = at;
  if (at < tap.quietUntil) return;
  try {
    tap.onWrite?.(name, at);
  } catch {
    // The recording of a line must not cost the program its line.
  }
}

/** A part of a long text would hold all of it. */
function copyEnd(piece: unknown): string | undefined {
  if (typeof piece === 'string') return Buffer.from(piece.slice(-keptChars), 'utf16le').toString('utf16le');
  if (!(piece instanceof Uint8Array)) return undefined;
  return Buffer.from(piece.length > keptChars ? piece.subarray(-keptChars) : piece).toString('utf8');
}

/** Whole pieces go first; only many short ones are joined. */
function trim(tail: LogTail): void {
  const { pieces } = tail;
  let first = 0;
  for (; tail.held - (pieces[first]?.length ?? 0) >= keptChars; first++)
    tail.held -= pieces[first]?.length ?? 0;
  if (first > 0) {
    pieces.splice(0, first);
    tail.isCut = true;
  } else {
    const text = pieces.join('');
    tail.isCut ||= text.length > keptChars;
    tail.pieces = [text.slice(-keptChars)];
    tail.held = Math.min(text.length, keptChars);
  }
}
