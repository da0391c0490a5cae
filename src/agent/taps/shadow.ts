/** Shadows a method of one object, so that what passes it is seen and nothing else of the object changes. */
import { guarded } from './guard.ts';

type Method = (...args: unknown[]) => unknown;

/** `observe` gets the first arguments before the object's own method runs; its failures stay with us. */
export function shadowFirst(
  target: object,
  name: string,
  observe: (first: unknown, second: unknown) => void,
): void {
  const original = (target as Record<string, unknown>)[name];
  if (typeof original !== 'function') return;
  const safe = guarded(observe);
  defineMethod(target, name, function (this: unknown, ...args: unknown[]) {
    safe(args[0], args[1]);
    return Reflect.apply(original, this, args);
  });
}

/** A property that no enumeration shows. */
export function defineMethod(target: object, name: string, value: Method): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: false });
}
