/**
 * The error that Node prints as it ends the process. Before it prints an error, it looks up on it, under a symbol of its own, the
 * function that adds "Emitted 'error' event on … instance at:"; an error that was thrown has none, so the look-up comes to
 * `Error.prototype`. That is the only sign of what a handler of uncaught exceptions threw: Node then ends the process with exit
 * code 7, without an event. Nothing is added to the stack of the handler. Not seen: what is not an error, and errors of another
 * realm. Tested on Node 20.20, 22.23, 24.21, 26.10.
 */
import { EventEmitter } from 'node:events';
import { descriptorOf, putBack } from './intrinsics.ts';

const { apply, defineProperty, getPrototypeOf, ownKeys } = Reflect;
const { emit } = EventEmitter.prototype;
const description = 'kEnhanceStackBeforeInspector';

/** `look` is called once at most, and may not throw. Returns a function that undoes it. */
export function beforeFatalPrint(look: (error: unknown) => void): () => void {
  const key = findSymbol();
  // Of TypeError.prototype.
  const prototype = getPrototypeOf(getPrototypeOf(errorOfNode()) as object);
  if (key === undefined || prototype === null || descriptorOf(prototype, key)) return () => {};
  const undo = (): void => putBack(prototype, key, undefined);
  const get = function (this: unknown): undefined {
    undo();
    look(this);
  };
  const accessor = { __proto__: null, configurable: true, enumerable: false, get };
  // False if the program has frozen it.
  return defineProperty(prototype, key, accessor as PropertyDescriptor) ? undo : () => {};
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
