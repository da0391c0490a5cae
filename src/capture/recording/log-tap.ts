/**
 * Keeps the last output of the program to standard output and error, without being visible: the streams keep all of their
 * properties and are still created when the program first asks for them; what passes through the native handle of a pipe or
 * terminal is kept. Output to a file is in that file; of output that bypasses the streams
 * only pino's is seen, by its own channel. See the README.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fstatSync } from 'node:fs';
import { findHandle, seeWrites } from '../../agent/taps/handle-writes.ts';
import { ours } from '../../agent/taps/own-work.ts';
import { descriptorOf, putBack } from '../host/intrinsics/intrinsics.ts';

/** `pino`: the lines of that logger. */
export type LogStream = 'stdout' | 'stderr' | 'pino';
export const logStreams: readonly LogStream[] = ['stdout', 'stderr', 'pino'];

export interface LogTail {
  /** The newest pieces, in order, as they were written. */
  pieces: string[];
  /** UTF-16 units in the pieces. */
  held: number;
  /** Earlier pieces were dropped. */
  isCut: boolean;
  /** Total output, in UTF-16 units or bytes. */
  written: number;
  /** Time of the last piece, or in a burst of one of the seven before it; 0 before the first. */
  at: number;
  /** The output goes to something other than a pipe or terminal, and so can't be followed. */
  isElsewhere?: true;
  /** Size of that file, in bytes, when the program first asked for the stream: others wrote that part. */
  targetHeld?: number;
}

export interface LogTap {
  readonly tails: Record<LogStream, LogTail>;
  /** The newest write to a standard stream that failed at once, and when. Node forgets the error of such a stream. */
  failed: { descriptor: number; errno: number; at: number } | undefined;
  /**
   * Set by the flight recorder. Called after a piece was added, except during the time for which it has asked for silence.
   */
  onWrite: ((stream: LogStream, at: number) => void) | undefined;
  /** Milliseconds since the epoch. */
  quietUntil: number;
  /** Number of pieces before the clock is read again. The flight recorder resets it to 0 at each of its ticks. */
  undated: number;
  undo(): void;
}

const pinoChannel = 'tracing:pino_asJson:end';
const keptChars = 32 * 1024;
/** With this many pieces (lines of a few words), whole pieces are dropped, which costs less than joining them. */
const manyPieces = 2048;
/** Reading the clock costs as much as everything else that is done for a piece. */
const undatedInBurst = 7;
const { now } = Date;
const descriptors = { stdout: 1, stderr: 2 };

export function tapLogs(): LogTap {
  const newTail = (): LogTail => ({ pieces: [], held: 0, isCut: false, written: 0, at: 0 });
  const tap: LogTap = {
    tails: { stdout: newTail(), stderr: newTail(), pino: newTail() },
    failed: undefined,
    onWrite: undefined,
    quietUntil: 0,
    undated: 0,
    undo: () => {
      tap.onWrite = undefined;
      for (const undo of undoings) undo();
    },
  };
  const undoings = (['stdout', 'stderr'] as const).map((name) => trapFirstUse(name, tap));
  undoings.push(followPino(tap));
  return tap;
}

/**
 * Replaces the getter of the stream until the program first asks for it, by one with the same name and length; then restores
 * Node's.
 */
function trapFirstUse(name: keyof typeof descriptors, tap: LogTap): () => void {
  const descriptor = descriptorOf(process, name);
  const { get } = descriptor ?? {};
  if (!descriptor || !get || !descriptor.configurable) return () => {};
  let isFirst = true;
  const trap = function (this: unknown): unknown {
    const stream = Reflect.apply(get, this, []);
    if (isFirst) {
      isFirst = false;
      ours(restore);
      follow(stream, name, tap);
    }
    return stream;
  };
  const restore = (): void => {
    if (descriptorOf(process, name)?.get === trap) putBack(process, name, descriptor);
  };
  Object.defineProperty(trap, 'name', { value: get.name, configurable: true });
  Object.defineProperty(process, name, { ...descriptor, get: trap });
  return () => {
    isFirst = false;
    restore();
  };
}

/**
 * pino writes with descriptors of its own, or in a worker. Since 9.10 it publishes each line when it has made it, in the thread
 * that logs.
 */
function followPino(tap: LogTap): () => void {
  const hear = (message: unknown): void => {
    ours(() => {
      const { result } = message as { result?: unknown };
      if (typeof result === 'string') keepPiece(tap, 'pino', result);
    });
  };
  subscribe(pinoChannel, hear);
  return () => void unsubscribe(pinoChannel, hear);
}

function follow(stream: unknown, name: keyof typeof descriptors, tap: LogTap): void {
  ours(() => {
    const handle = findHandle(stream);
    if (!handle) {
      tap.tails[name].isElsewhere = true;
      tap.tails[name].targetHeld = fstatSync(descriptors[name]).size;
      return;
    }
    const keep = (piece: unknown): void => keepPiece(tap, name, piece);
    const fail = (errno: number): void => {
      tap.failed = { descriptor: descriptors[name], errno, at: now() };
    };
    seeWrites(handle, keep, fail);
  });
}

/**
 * A string is kept as it is; a buffer is copied, because the program may reuse it. Of a huge piece only the end is kept. The usual
 * piece calls nothing that the program can replace.
 */
function keepPiece(tap: LogTap, name: LogStream, piece: unknown): void {
  const tail = tap.tails[name];
  const text = typeof piece === 'string' && piece.length <= keptChars ? piece : ours(() => copyEnd(piece));
  if (text === undefined) return;
  const { length } = piece as string | Uint8Array;
  tail.pieces[tail.pieces.length] = text;
  tail.held += text.length;
  tail.written += length;
  if (length > keptChars) tail.isCut = true;
  if (tail.held > 2 * keptChars || tail.pieces.length > manyPieces) ours(() => trim(tail));
  if (tap.undated > 0) tap.undated--;
  else date(tap, name, tail);
}

function date(tap: LogTap, name: LogStream, tail: LogTail): void {
  const at = now();
  // Without ticks nothing would end a burst.
  if (at - tail.at <= 1 && tap.onWrite) tap.undated = undatedInBurst;
  tail.at = at;
  if (at < tap.quietUntil) return;
  // Recording a line must not make the program lose it.
  if (tap.onWrite) ours(() => tap.onWrite?.(name, at));
}

/** A slice of a long string would keep all of it alive. */
function copyEnd(piece: unknown): string | undefined {
  if (typeof piece === 'string') return Buffer.from(piece.slice(-keptChars), 'utf16le').toString('utf16le');
  if (!(piece instanceof Uint8Array)) return undefined;
  return Buffer.from(piece.length > keptChars ? piece.subarray(-keptChars) : piece).toString('utf8');
}

/** Drops whole pieces first; pieces are joined only if there are many short ones. */
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
