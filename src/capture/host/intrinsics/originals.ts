/** Gives objects the properties that they had when the preload was loaded, for the duration of some work. */
import { copyOf, descriptorOf, putBack } from './intrinsics.ts';

const { ownKeys, setPrototypeOf } = Reflect;

/** A linked list: arrays have methods that the program may have replaced. */
export interface Replaced {
  holder: object;
  name: PropertyKey;
  by: PropertyDescriptor | undefined;
  before: Replaced | undefined;
}

/** Returns a function that runs work with the holders' properties as they are now, and then assigns the program's again. */
export function originalsOf(holders: readonly object[]): <Result>(work: () => Result) => Result {
  const originals = holders.map((holder) => copyOf(holder) as Record<PropertyKey, unknown>);
  return (work) => {
    let last: Replaced | undefined;
    try {
      for (let at = 0; at < holders.length; at++) {
        const own = originals[at] as object;
        last = restore(holders[at] as object, (name) => descriptorOf(own, name), ownKeys(own), last);
      }
      return work();
    } finally {
      putAllBack(last);
    }
  };
}

/** Undoes `restore`: assigns what the program had there. */
export function putAllBack(last: Replaced | undefined): void {
  for (let one = last; one; one = one.before) putBack(one.holder, one.name, one.by);
}

/** Assigns the original properties where they differ. Returns what was replaced, linked to `before`. */
export function restore(
  holder: object,
  find: (name: PropertyKey) => PropertyDescriptor | undefined,
  names: PropertyKey[],
  before: Replaced | undefined,
): Replaced | undefined {
  let last = before;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as PropertyKey;
    const own = find(name);
    const by = descriptorOf(holder, name);
    if (!own || (by?.value === own.value && by?.get === own.get)) continue;
    // A descriptor inherits what the program has put on Object.prototype.
    setPrototypeOf(own, null);
    putBack(holder, name, own);
    last = { holder, name, by, before: last };
  }
  return last;
}
