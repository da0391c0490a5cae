/**
 * Observes that a method is about to be called, without a frame on the stack of what it does: the method becomes an accessor of the
 * individual object, which returns the object's own method. A wrapper would be on the stack of every error that is created, and of every
 * listener that runs, while the method runs. The accessor doesn't see the arguments.
 */
import { guarded } from './guard.ts';

const { defineProperty } = Reflect;

/** `seen` is called each time that `name` is read; its failures do not reach the reader. Returns the accessor's getter. */
export function seeLookUps(target: object, name: string, seen: () => void): () => unknown {
  let method = (target as Record<string, unknown>)[name];
  const safe = guarded(seen);
  const get = (): unknown => {
    safe();
    return method;
  };
  const set = (given: unknown): void => {
    method = given;
  };
  defineProperty(target, name, { configurable: true, enumerable: false, get, set });
  return get;
}
