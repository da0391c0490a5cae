/**
 * Which object emitted an `error` event that nobody listened to. `EventEmitter.emit` then throws the event's value, and
 * hangs on it, below a symbol of its own, the function with which Node tells "Emitted 'error' event on … instance at:"
 * when it prints the error. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import { types } from 'node:util';
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import { startOf } from '../../redaction/start-of.ts';

const maxTextChars = 16 * 1024;
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
