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
  /** When the last piece passed; 0 before the first. */
  at: number;
  /** The output goes to something that is no pipe or terminal, and so cannot be followed. */
  isElsewhere?: true;
  /** What that file held, in bytes, when the program first asked for the stream: others wrote it. */
  targetHeld?: number;
}

export interface LogTap {
  readonly tails: Record<LogStream, LogTail>;
  /** Set by the flight recorder; called after a piece was added. */
  onWrite: ((stream: LogStream) => void) | undefined;
  undo(): void;
}

const keptChars = 32 * 1024;
const manyPieces = 512;
const { now } = Date;
const descriptors: Record<LogStream, number> = { stdout: 1, stderr: 2 };
const stringMethods = ['writeUtf8String', 'writeLatin1String', 'writeAsciiString', 'writeUcs2String'];

export function tapLogs(): LogTap {
  const newTail = (): LogTail => ({ pieces: [], held: 0, isCut: false, written: 0, at: 0 });
  const tap: LogTap = {
    tails: { stdout: newTail(), stderr: newTail() },
    onWrite: undefined,
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
    const keep = (piece: string | Uint8Array): void => keepPiece(tap, name, piece);
    for (const method of stringMethods)
      shadow(handle, method, (data) => {
        if (typeof data === 'string') keep(data);
      });
    shadow(handle, 'writeBuffer', (data) => keep(data as Uint8Array));
    shadow(handle, 'writev', (data, allBuffers) => {
      const pieces = data as unknown[];
      for (let i = 0; i < pieces.length; i += allBuffers === true ? 1 : 2) keep(pieces[i] as string);
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
    return Reflect.apply(original, this, [request, data, allBuffers]);
  };
  Object.defineProperty(handle, method, { value, configurable: true, writable: true, enumerable: false });
}

/** A buffer may be used again by the program, so it is copied; of a huge piece the end is enough. */
function keepPiece(tap: LogTap, name: LogStream, piece: string | Uint8Array): void {
  const tail = tap.tails[name];
  const end = piece.length > keptChars ? piece.slice(-keptChars) : piece;
  const text = typeof end === 'string' ? end : Buffer.from(end).toString('utf8');
  tail.pieces.push(text);
  tail.held += text.length;
  tail.written += piece.length;
  tail.at = now();
  if (tail.held > 2 * keptChars || tail.pieces.length > manyPieces) trim(tail);
  try {
    tap.onWrite?.(name);
  } catch {
    // The recording of a line must not cost the program its line.
  }
}

function trim(tail: LogTail): void {
  const text = tail.pieces.join('');
  tail.isCut ||= text.length > keptChars;
  tail.pieces = [text.slice(-keptChars)];
  tail.held = Math.min(text.length, keptChars);
}
