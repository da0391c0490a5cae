/**
 * What the way from an event to the own realm (own-realm.ts) calls of the language and of Node, as it was when the preload
 * was loaded: the program may have replaced any of it since. Arrays are walked by index, because `for … of` and spreading
 * go through Array.prototype[Symbol.iterator].
 */
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys, setPrototypeOf } = Reflect;

type Method<Self, Args extends unknown[], Result> = (self: Self, ...args: Args) => Result;

/** The method as a function of its `this`. */
function uncurry<Self, Args extends unknown[], Result>(
  method: (this: Self, ...args: Args) => Result,
): Method<Self, Args, Result> {
  return (self, ...args) => apply(method, self, args) as Result;
}

export const isArray = Array.isArray;
export const indexOf = uncurry(String.prototype.indexOf) as Method<string, [string, number?], number>;
export const lastIndexOf = uncurry(String.prototype.lastIndexOf) as Method<string, [string, number?], number>;
export const sliceText = uncurry(String.prototype.slice) as Method<string, [number, number?], string>;
export const sourceOf = uncurry(Function.prototype.toString) as Method<unknown, [], string>;
export const getBuiltinModule: NodeJS.Process['getBuiltinModule'] = process.getBuiltinModule;

/** Every property of an object, methods and all, that later changes of the object don't reach. Getters stay getters. */
export function copyOf<Holder extends object>(holder: Holder): Holder {
  const copy = { __proto__: null } as unknown as Holder;
  const names = ownKeys(holder);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as keyof Holder & string;
    putBack(copy, name, descriptorOf(holder, name));
  }
  return copy;
}

/** Inherits nothing: to a descriptor a `get` or `writable` that the program has put on Object.prototype would belong. */
export function descriptorOf(holder: object, name: PropertyKey): PropertyDescriptor | undefined {
  const found = getOwnPropertyDescriptor(holder, name);
  if (found) setPrototypeOf(found, null);
  return found;
}

/** Sets a property whatever stands in its way. False where the object is frozen, as by --frozen-intrinsics. */
export function putProperty(holder: object, name: PropertyKey, value: unknown, enumerable = false): boolean {
  const descriptor = { __proto__: null, value, writable: true, enumerable, configurable: true };
  return defineProperty(holder, name, descriptor as PropertyDescriptor);
}

/** Puts `name` back as `descriptor` has it; undefined: as it was when there was none. */
export function putBack(holder: object, name: PropertyKey, descriptor: PropertyDescriptor | undefined): void {
  if (descriptor) defineProperty(holder, name, descriptor);
  else deleteProperty(holder, name);
}
