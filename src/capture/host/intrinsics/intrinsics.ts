/**
 * What the code between an event and the own realm (own-realm.ts) calls of the language and of Node, as it was when the
 * preload was loaded: the program may have replaced any of it since. Arrays are iterated by index, because `for … of` and
 * spreading use Array.prototype[Symbol.iterator].
 */
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys, setPrototypeOf } = Reflect;

type Method<Self, Args extends unknown[], Result> = (self: Self, ...args: Args) => Result;

/** The method as a function that takes its `this` as first argument. */
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

const nothing = { __proto__: null };

/**
 * Copies every property of an object except `without`, including methods, so that later changes of the object don't affect the copy. Getters
 * stay getters.
 */
export function copyOf<Holder extends object>(holder: Holder, without: object = nothing): Holder {
  const copy = { __proto__: null } as unknown as Holder;
  const names = ownKeys(holder);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as keyof Holder & string;
    if (!(name in without)) putBack(copy, name, descriptorOf(holder, name));
  }
  return copy;
}

/**
 * The descriptor inherits nothing: otherwise a `get` or `writable` that the program has put on Object.prototype would apply
 * to it.
 */
export function descriptorOf(holder: object, name: PropertyKey): PropertyDescriptor | undefined {
  const found = getOwnPropertyDescriptor(holder, name);
  if (found) setPrototypeOf(found, null);
  return found;
}

/** Sets a property even if it is read-only or an accessor. False if the object is frozen, as by --frozen-intrinsics. */
export function putProperty(holder: object, name: PropertyKey, value: unknown, enumerable = false): boolean {
  const descriptor = { __proto__: null, value, writable: true, enumerable, configurable: true };
  return defineProperty(holder, name, descriptor as PropertyDescriptor);
}

/** Restores `name` to `descriptor`; removes it if that is undefined. */
export function putBack(holder: object, name: PropertyKey, descriptor: PropertyDescriptor | undefined): void {
  if (descriptor) defineProperty(holder, name, descriptor);
  else deleteProperty(holder, name);
}
