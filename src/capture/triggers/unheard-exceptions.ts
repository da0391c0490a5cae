/**
 * Uncaught exceptions in a program that has replaced `process.emit`, or the store of its listeners: then perhaps no event of
 * `process` tells of them. Node looks up `process._fatalException` at each uncaught exception and calls what it finds, so it is an
 * accessor here. Only for such a program, and only if it has no handler, does it return a function of ours: for all others there
 * is no frame of ours on the stack of their handlers. Where no JavaScript may run, no accessor does, and Node 20 aborts: so it is only on the main thread (a
 * worker can be terminated), and is undone when the program ends (freeing the environment tells an inspector session of the
 * program that its context is destroyed).
 */
import { descriptorOf, putBack, putProperty } from '../host/intrinsics/intrinsics.ts';

const { apply, defineProperty } = Reflect;
const name = '_fatalException';

/** Returns whether the program survives. */
type FatalException = (error: unknown, fromPromise: boolean) => boolean;

interface Unheard {
  /** Whether no event of `process` may tell of it, and no code of the program sees who calls Node's function. */
  mayBeUnheard(): boolean;
  /** An exception that ends the program. */
  died(error: unknown, fromPromise: boolean): void;
}

/** Returns a function that undoes it. */
export function watchUnheardExceptions({ mayBeUnheard, died }: Unheard): (() => void) | undefined {
  const descriptor = descriptorOf(process, name);
  const original = descriptor?.value as FatalException | undefined;
  if (!descriptor?.configurable || typeof original !== 'function') return undefined;
  const call: FatalException = function (this: unknown, error, fromPromise) {
    let isSurvived = false;
    // Not caught, because Node prints the place where an error was thrown last.
    try {
      isSurvived = apply(original, this, [error, fromPromise]) as boolean;
      return isSurvived;
    } finally {
      if (!isSurvived) died(error, fromPromise);
    }
  };
  const isOursCalled = (): boolean => {
    try {
      return mayBeUnheard();
    } catch {
      return false;
    }
  };
  const accessor = {
    __proto__: null,
    configurable: true,
    enumerable: descriptor.enumerable ?? true,
    get: () => (isOursCalled() ? call : original),
    set: (value: unknown) =>
      putBack(process, name, { __proto__: null, ...descriptor, value } as PropertyDescriptor),
  } as PropertyDescriptor;
  const { get } = accessor;
  // V8 prints the name of the property that holds a nameless function, but does not find it in an accessor.
  const ownName = descriptorOf(original, 'name');
  putProperty(original, 'name', name);
  defineProperty(process, name, accessor);
  return () => {
    if (descriptorOf(process, name)?.get === get) putBack(process, name, descriptor);
    putBack(original, 'name', ownName);
  };
}
