/**
 * Which object emitted an `error` event without a listener. `EventEmitter.emit` then throws the event's value, and attaches
 * to it, under a symbol, the function by which Node adds "Emitted 'error' event on … instance at:" when it prints the error.
 * Tested on Node 20.20, 22.23, 24.21, 26.10.
 */
import { types } from 'node:util';
import { asyncHooks } from '../../agent/node-modules.ts';
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import { startOf } from '../../redaction/start-of.ts';
import { findField } from './read-field.ts';

/** The tick in which Node destroys a stream: `emitErrorNT(stream, error)` and similar. */
interface Tick {
  args?: unknown;
}

const maxTextChars = 16 * 1024;
const maxPathChars = 1024;
const told = /^Emitted 'error' event(?: on (.+) instance)? at:$/m;

/** The emitter of the error; undefined if the error was thrown. Formats the error's stack. Never throws. */
export function findEmitter(thrown: unknown): ErrorPart['emitter'] {
  // An error from a worker is a copy, for which isNativeError is false.
  if (typeof thrown !== 'object' || thrown === null || types.isProxy(thrown)) return undefined;
  try {
    const symbol = Object.getOwnPropertySymbols(thrown).find(
      ({ description }) => description === 'kEnhanceStackBeforeInspector',
    );
    const tell = symbol && Object.getOwnPropertyDescriptor(thrown, symbol)?.value;
    const text: unknown = typeof tell === 'function' ? tell() : undefined;
    const found = typeof text === 'string' ? told.exec(text) : null;
    if (!found) return undefined;
    const stack = startOf(found.input.slice(found.index + found[0].length + 1), maxTextChars);
    // Node names every class but this one.
    return { className: (found[1] ?? 'EventEmitter').slice(0, 200), stack };
  } catch {
    return undefined;
  }
}

/**
 * The stream itself, if it emits the error in a separate tick, as Node's streams do: the resource of the current tick has the
 * arguments of its function. Undefined otherwise.
 */
export function emittingObject(thrown: unknown): object | undefined {
  try {
    const { args } = asyncHooks().executionAsyncResource() as Tick;
    if (!Array.isArray(args)) return undefined;
    const [emitter, error] = args as unknown[];
    // A child process that can't be started is given the number of its error.
    const isOwn = error === thrown || (typeof error === 'number' && error === findField(thrown, 'errno'));
    if (!isOwn) return undefined;
    return typeof emitter === 'object' && emitter !== null ? emitter : undefined;
  } catch {
    return undefined;
  }
}

/** The file that a stream of `node:fs` reads or writes. */
export function pathOfStream(stream: object | undefined): string | undefined {
  const path = stream && findField(stream, 'fd') !== undefined ? findField(stream, 'path') : undefined;
  return typeof path === 'string' ? startOf(path, maxPathChars) : undefined;
}

/** The descriptor of a standard stream of the process. */
export function stdioOf(stream: object | undefined): number | undefined {
  const fd = stream && findField(stream, '_isStdio') === true ? findField(stream, 'fd') : undefined;
  return typeof fd === 'number' ? fd : undefined;
}
