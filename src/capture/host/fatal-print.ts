/**
 * The error that Node prints as it ends the process. Before it prints an error, it looks up on it, under a symbol of its own, the
 * function that adds "Emitted 'error' event on … instance at:". An error that was thrown has none, so the look-up comes to
 * `Error.prototype`; one of an `error` event has it as its own property. That is the only sign of what a handler of uncaught
 * exceptions threw: Node then ends the process with exit code 7, without an event. Nothing is added to the stack of the handler.
 * Not seen: what is not an error, an error of an `error` event other than the one that the handler was given, and errors of another
 * realm. Tested on Node 20.20, 22.23, 24.21, 26.10.
 */
import { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { descriptorOf, putBack } from './intrinsics/intrinsics.ts';

const { apply, defineProperty, getPrototypeOf, ownKeys } = Reflect;
const { emit } = EventEmitter.prototype;
const description = 'kEnhanceStackBeforeInspector';

/** `look` is called once at most, and may not throw. `given`: what the handler is given. Returns a function that undoes it. */
export function beforeFatalPrint(look: (error: unknown) => void, given: unknown): () => void {
  const key = findSymbol();
  // Of TypeError.prototype.
  const prototype = getPrototypeOf(getPrototypeOf(errorOfNode()) as object);
  if (key === undefined || prototype === null || descriptorOf(prototype, key)) return () => {};
  const undoThrown = watch(prototype, key, seen);
  const isEmitted = types.isNativeError(given) && descriptorOf(given, key);
  const undoEmitted = isEmitted ? watch(given, key, seen) : undefined;
  const undo = (): void => {
    undoThrown();
    undoEmitted?.();
  };
  function seen(error: unknown): void {
    undo();
    look(error);
  }
  return undo;
}

/** The property keeps its value. Node assigns it anew if the error is emitted again: that is left alone. */
function watch(holder: object, key: symbol, seen: (error: unknown) => void): () => void {
  const before = descriptorOf(holder, key);
  const get = function (this: unknown): unknown {
    seen(this);
    return before?.value;
  };
  const accessor = { __proto__: null, configurable: true, enumerable: false, get };
  // False if the program has frozen it.
  if (!defineProperty(holder, key, accessor as PropertyDescriptor)) return () => {};
  return () => {
    if (descriptorOf(holder, key)?.get === get) putBack(holder, key, before);
  };
}

/** A TypeError of the program's realm, whatever it has made of its global names. */
function errorOfNode(): object {
  try {
    apply(emit, undefined, ['']);
  } catch (error) {
    return error as object;
  }
  throw new Error('emit needs an emitter');
}

/** Node attaches the function to an error that nobody listens to. */
function findSymbol(): symbol | undefined {
  const probe = errorOfNode();
  // Of no domain, which would handle the error.
  const emitter = { __proto__: EventEmitter.prototype, domain: null };
  try {
    apply(emit, emitter, ['error', probe]);
  } catch {
    // It is thrown, with the function.
  }
  return ownKeys(probe).find((key) => typeof key === 'symbol' && key.description === description) as
    | symbol
    | undefined;
}
