/**
 * The methods by which Node listens and emits, as they were when the preload was loaded. The program may replace them (zone.js
 * replaces those of EventTarget and EventEmitter, and its replacement throws on the message of a port); what we create is made
 * with Node's own, and keeps them.
 */
import { EventEmitter } from 'node:events';
import { descriptorOf, getBuiltinModule, isArray, putBack, putProperty } from './intrinsics.ts';
import { originalsOf } from './originals.ts';

type Methods = readonly (readonly [name: PropertyKey, method: unknown])[];

const { MessagePort } = getBuiltinModule('node:worker_threads');
const { apply, getPrototypeOf, ownKeys } = Reflect;
/** From the nearest, as a lookup goes: a subclass of EventTarget that only Node has is in between. */
const portPrototypes: object[] = [];
for (
  let one: object | null = MessagePort.prototype;
  one && one !== Object.prototype;
  one = getPrototypeOf(one)
)
  portPrototypes.push(one);
const emitterMethods = methodsOf([EventEmitter.prototype]);
const portMethods = methodsOf(portPrototypes);

/** Runs synchronous work with Node's own methods on the prototypes. */
export const withNativeEvents = originalsOf([EventEmitter, EventEmitter.prototype, ...portPrototypes]);

/** The emitter, and each port that it refers to, does not use what the program puts on the prototypes later. */
export function keepNativeEvents(emitter: EventEmitter): void {
  keep(emitter, emitterMethods);
  const names = ownKeys(emitter);
  for (let at = 0; at < names.length; at++) {
    const value: unknown = descriptorOf(emitter, names[at] as PropertyKey)?.value;
    if (value instanceof MessagePort) keep(value, portMethods);
  }
}

/**
 * Each port that is transferred during synchronous work keeps Node's own methods, too: its end on this side is closed, and then
 * dispatches an event.
 */
export function keepingTransferred<Result>(work: () => Result): Result {
  const native = descriptorOf(MessagePort.prototype, 'postMessage') as PropertyDescriptor;
  const post = function (this: unknown, ...args: unknown[]): unknown {
    const [, ports] = args;
    if (isArray(ports))
      for (let at = 0; at < ports.length; at++)
        if (ports[at] instanceof MessagePort) keep(ports[at] as object, portMethods);
    return apply(native.value, this, args);
  };
  putProperty(MessagePort.prototype, 'postMessage', post);
  try {
    return work();
  } finally {
    putBack(MessagePort.prototype, 'postMessage', native);
  }
}

function methodsOf(prototypes: readonly object[]): Methods {
  const found = new Map<PropertyKey, unknown>();
  for (const prototype of prototypes)
    for (const name of ownKeys(prototype)) {
      const value: unknown = descriptorOf(prototype, name)?.value;
      if (typeof value === 'function' && name !== 'constructor' && !found.has(name)) found.set(name, value);
    }
  return [...found];
}

/** What a class between has overridden (`on` of a stream) stays as it is. */
function keep(target: object, methods: Methods): void {
  for (let at = 0; at < methods.length; at++) {
    const [name, method] = methods[at] as Methods[number];
    if ((target as Record<PropertyKey, unknown>)[name as string] === method)
      putProperty(target, name, method);
  }
}
