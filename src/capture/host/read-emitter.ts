/**
 * Which object emitted an `error` event that nobody listened to. `EventEmitter.emit` then throws the event's value, and
 * hangs on it, below a symbol of its own, the function with which Node tells "Emitted 'error' event on … instance at:"
 * when it prints the error. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import { types } from 'node:util';
import { asyncHooks } from '../../agent/node-modules.ts';
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import { startOf } from '../../redaction/start-of.ts';
import { findField } from './read-field.ts';

/** Of the stream that a tick of Node's destroys: `emitErrorNT(stream, error)` and its like. */
interface Tick {
  args?: unknown;
}

const maxTextChars = 16 * 1024;
const maxPathChars = 1024;
const told = /^Emitted 'error' event on (.+) instance at:$/m;

/** The emitter of the error; undefined when it was thrown. Formats the error's stack. Never throws. */
export function findEmitter(thrown: unknown): ErrorPart['emitter'] {
  // An error that came from a worker is a copy, which V8 does not call one.
  if (typeof thrown !== 'object' || thrown === null || types.isProxy(thrown)) return undefined;
  try {
    const symbol = Object.getOwnPropertySymbols(thrown).find(
      ({ description }) => description === 'kEnhanceStackBeforeInspector',
    );
    const tell = symbol && Object.getOwnPropertyDescriptor(thrown, symbol)?.value;
    const text: unknown = typeof tell === 'function' ? tell() : undefined;
    const found = typeof text === 'string' ? told.exec(text) : null;
    if (!found?.[1]) return undefined;
    const stack = startOf(found.input.slice(found.index + found[0].length + 1), maxTextChars);
    return { className: found[1].slice(0, 200), stack };
  } catch {
    return undefined;
  }
}

/**
 * The stream itself, where one emits the error in a tick of its own, as Node's do: the resource of the tick that runs holds
 * what its function was called with. Undefined elsewhere.
 */
export function emittingObject(thrown: unknown): object | undefined {
  try {
    const { args } = asyncHooks().executionAsyncResource() as Tick;
    if (!Array.isArray(args) || args[1] !== thrown) return undefined;
    const [emitter] = args as unknown[];
    return typeof emitter === 'object' && emitter !== null ? emitter : undefined;
  } catch {
    return undefined;
  }
}

/** Of a stream of `node:fs`: the file that it reads or writes. */
export function pathOfStream(stream: object | undefined): string | undefined {
  const path = stream && findField(stream, 'fd') !== undefined ? findField(stream, 'path') : undefined;
  return typeof path === 'string' ? startOf(path, maxPathChars) : undefined;
}
