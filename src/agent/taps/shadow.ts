/** Shadows a method of one object to observe its calls. Nothing else about the object changes. */
import { guarded } from './guard.ts';

type Method = (...args: unknown[]) => unknown;

/** `observe` receives the first arguments before the object's own method runs. Its failures do not reach the caller. */
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

/** Defines a non-enumerable method. */
export function defineMethod(target: object, name: string, value: Method): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: false });
}
