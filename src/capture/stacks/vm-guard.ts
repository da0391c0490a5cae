/**
 * Keeps the debugger from pausing in code that `node:vm` runs. On Node 20 and 22 an exception that leaves such code is lost
 * once a debugger of the same thread has paused at it: the program continues as if nothing was thrown, and ends with exit
 * code 0 and no output (observed on 20.20 and 22.23; 24.21 and 26.10 keep it). Does not know what a pause is for.
 */
import type { Script } from 'node:vm';

const firstThatKeepsThem = 24;

export const losesVmExceptions = (): boolean =>
  Number.parseInt(process.versions.node, 10) < firstThatKeepsThem;

type Run = (this: Script, ...words: unknown[]) => unknown;

let hasThrown = false;

/** Whether code of `node:vm` threw without a pause. */
export const vmCodeHasThrown = (): boolean => hasThrown;

/** All functions of `node:vm` that run code at once call these. */
const names = ['runInThisContext', 'runInContext'] as const;

/** Returns a function that undoes it. @param pauseOn sets at which exceptions the debugger pauses. */
export function guardVmCode(pauseOn: (state: 'none' | 'uncaught') => void): () => void {
  const prototype = process.getBuiltinModule('node:vm').Script.prototype as unknown as Record<string, Run>;
  let depth = 0;
  let isOver = false;
  const undoings = names.map((name) => {
    const original = prototype[name]!;
    const guarded: Run = function (...words) {
      if (depth++ === 0 && !isOver) pauseOn('none');
      let threw = true;
      try {
        const result = Reflect.apply(original, this, words);
        threw = false;
        return result;
      } finally {
        hasThrown ||= threw;
        // If the guard was removed meanwhile there is no debugger to configure, and its error would replace what the program
        // threw.
        if (--depth === 0 && !isOver) pauseOn('uncaught');
      }
    };
    Object.defineProperty(guarded, 'name', { value: name });
    Object.defineProperty(guarded, 'length', { value: original.length });
    prototype[name] = guarded;
    return () => {
      if (prototype[name] === guarded) prototype[name] = original;
    };
  });
  return () => {
    isOver = true;
    for (const undo of undoings) undo();
  };
}
