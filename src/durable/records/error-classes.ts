/**
 * Gives restored errors the class that they had, so that a program that asks `error instanceof RateLimitError` hears the same
 * after a restart. Nobody registers the classes of errors, and no module lists them, so V8 is asked which prototypes below
 * Error.prototype there are in the heap.
 */
import { createHash } from 'node:crypto';

/**
 * The names from the error's class to Error, which is left out. Undefined for the classes of the language, whose errors are known
 * by their name (but not a DOMException), and for those of Node, which are no host's to ask for.
 */
export function classNamesOf(error: Error): string[] | undefined {
  const names: string[] = [];
  for (let at = Object.getPrototypeOf(error); at !== Error.prototype; at = Object.getPrototypeOf(at)) {
    if (at === null) return undefined;
    names.push(ownNameOf(at) ?? '');
  }
  const [first] = names;
  const isOfLanguage = first === undefined || (names.length === 1 && first in globalThis && !isDom(names));
  return isOfLanguage || first === 'NodeError' || names.includes('') ? undefined : names;
}

/** A DOMException may have any name. */
export const isDom = (names: readonly string[] = []): boolean =>
  names.length === 1 && names[0] === 'DOMException';

/**
 * Distinguishes classes of the same names, such as the TimeoutError of two packages of which one is not loaded yet: a hash of the
 * source texts of the class with this prototype and of those above it.
 */
export function classMarkOf(prototype: object): string {
  const hash = createHash('sha256');
  for (let at = prototype; at && at !== Error.prototype; at = Object.getPrototypeOf(at)) {
    const Class = classOf(at);
    hash.update(Class ? `${Function.prototype.toString.call(Class)}\n` : '\n');
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Turns the error into one of the only class with these names and this mark (which older records don't have); leaves it as it is
 * if there is none, or more than one.
 */
export function giveClass(error: Error, names: readonly string[], mark: string | undefined): void {
  const prototype = isDom(names) ? undefined : findPrototype(names.join(' '), mark);
  if (prototype) Object.setPrototypeOf(error, prototype);
}

/** By their names: the prototypes of the classes of errors that the last look at the heap found. */
let loaded = new Map<string, object[]>();
/** How many looks there were for a class. A module may be loaded late, but a look takes as long as a collection of the heap. */
const looksFor = new Map<string, number>();
const mostLooksForOne = 3;
/** For all classes, of which a log may name many that this program does not have. */
const mostLooks = 10;
let looks = 0;

function findPrototype(names: string, mark: string | undefined): object | undefined {
  const isWanted = (prototype: object) => mark === undefined || classMarkOf(prototype) === mark;
  const alike = () => loaded.get(names)?.filter(isWanted) ?? [];
  let candidates = alike();
  if (candidates.length === 0 && mayLook(`${names} ${mark}`)) {
    loaded = byNames(findErrorPrototypes());
    candidates = alike();
  }
  return candidates.length === 1 ? candidates[0] : undefined;
}

function mayLook(wanted: string): boolean {
  const before = looksFor.get(wanted) ?? 0;
  if (before === mostLooksForOne || looks === mostLooks) return false;
  looksFor.set(wanted, before + 1);
  looks++;
  return true;
}

function byNames(prototypes: object[]): Map<string, object[]> {
  const groups = new Map<string, object[]>();
  for (const prototype of prototypes) {
    const names = chainOf(prototype);
    if (names === undefined) continue;
    const group = groups.get(names);
    if (group) group.push(prototype);
    else groups.set(names, [prototype]);
  }
  return groups;
}

function chainOf(prototype: object): string | undefined {
  return classNamesOf(Object.create(prototype) as Error)?.join(' ');
}

/** The class whose prototype this is. */
function classOf(object: object): object | undefined {
  const Class = Object.getOwnPropertyDescriptor(object, 'constructor')?.value;
  return typeof Class === 'function' && Class.prototype === object ? Class : undefined;
}

function ownNameOf(object: object): string | undefined {
  const Class = classOf(object);
  // Not read: it may be a static getter.
  const name = Class && Object.getOwnPropertyDescriptor(Class, 'name')?.value;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** Empty if this Node has no inspector, or if the global object takes no properties. */
function findErrorPrototypes(): object[] {
  const door = Symbol.for('agentdump: handover');
  const found: object[] = [];
  // There may be very many errors among them.
  const take = (objects: object[]) => {
    for (const object of objects) if (classOf(object)) found.push(object);
  };
  const value = { from: Error.prototype, take };
  if (!Reflect.defineProperty(globalThis, door, { value, configurable: true })) return found;
  try {
    const { Session } = process.getBuiltinModule('node:inspector');
    const session = new Session();
    session.connect();
    try {
      const global = `globalThis[Symbol.for('${door.description}')]`;
      session.post('Runtime.evaluate', { expression: `${global}.from` }, (_, from) => {
        const prototypeObjectId = from?.result.objectId;
        if (prototypeObjectId === undefined) return;
        session.post('Runtime.queryObjects', { prototypeObjectId }, (_, all) => {
          const objectId = all?.objects.objectId;
          if (objectId === undefined) return;
          const functionDeclaration = `function () { ${global}.take(this); }`;
          session.post('Runtime.callFunctionOn', { objectId, functionDeclaration });
        });
      });
    } finally {
      session.disconnect();
    }
  } catch {
    // Built without it, or not permitted: errors keep their fields.
  } finally {
    Reflect.deleteProperty(globalThis, door);
  }
  return found;
}
