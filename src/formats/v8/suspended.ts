/**
 * Async functions (and async generators) that were waiting at an await when the process stopped: their position, their
 * arguments, and the function that awaits each of them. Sources: src/objects/js-generator.tq, js-promise.tq and promise.tq,
 * builtins-async-gen.cc of V8 (the closures of an await have the function in their context).
 */
import { whereMapped } from '../../bytes/memory.ts';
import type { FunctionInfo, Functions } from './frames/functions.ts';
import { findPosition } from './frames/positions.ts';
import type { LineColumn, Scripts } from './frames/script.ts';
import type { Tagged, V8Heap } from './heap/heap.ts';

export interface SuspendedFunction {
  object: Tagged;
  function: FunctionInfo;
  place?: LineColumn;
  receiver: Tagged;
  context: Tagged;
  /** Parameters, followed by the interpreter's registers, for which V8 keeps no names. */
  parameters: Tagged[];
  registers: Tagged[];
  /** The async function that awaits this one's promise. */
  awaitedBy?: Tagged;
}

const maxRegisters = 512;
const maxReactions = 16;
const maxPromises = 16;
const pending = 0;

/** Undefined for a function that is running or has ended, and for an async generator that nobody asked for its next value. */
export function findSuspended(
  heap: V8Heap,
  functions: Functions,
  scripts: Scripts,
  object: Tagged,
): SuspendedFunction | undefined {
  return whereMapped(() => readSuspended(heap, functions, scripts, object));
}

function readSuspended(
  heap: V8Heap,
  functions: Functions,
  scripts: Scripts,
  object: Tagged,
): SuspendedFunction | undefined {
  const { generator, fixedArray, functionObject, bytecode, positions } = heap.layout;
  const continuation = heap.findSmi(object, generator.continuation);
  if (continuation === undefined || continuation < 0) return undefined;
  const promise = findPromise(heap, object);
  if (promise === undefined) return undefined;
  const closure = heap.field(object, generator.function);
  const info = functions.ofClosure(closure);
  const saved = heap.field(object, generator.registers);
  if (!info || !heap.isPointer(saved)) return undefined;
  const length = Math.min(heap.findSmi(saved, fixedArray.length) ?? 0, maxRegisters);
  const values = Array.from({ length }, (_, i) => heap.field(saved, fixedArray.data + i * 8));
  const count = Math.min(info.scopeInfo?.parameterCount ?? 0, values.length);
  const result: SuspendedFunction = {
    object,
    function: info,
    receiver: heap.field(object, generator.receiver),
    context: heap.field(object, generator.context),
    parameters: values.slice(0, count),
    registers: values.slice(count),
  };
  const bytecodes = functions.findBytecodes(heap.field(closure, functionObject.shared));
  const offset = heap.findSmi(object, generator.inputOrPosition);
  const table = bytecodes && heap.findByteArray(heap.field(bytecodes, bytecode.positions));
  const position =
    table && offset !== undefined
      ? findPosition(table, offset - (bytecode.data - 1), positions.unsignedDeltas)?.position
      : undefined;
  if (
    position !== undefined &&
    info.script &&
    position >= (info.start ?? 0) &&
    position <= (info.end ?? position)
  ) {
    const place = scripts.findPlace(info.script, position);
    if (place) result.place = place;
  }
  const awaitedBy = findAwaiter(heap, promise);
  if (awaitedBy !== undefined) result.awaitedBy = awaitedBy;
  return result;
}

/**
 * What settles when the function goes on. An async generator has a queue of requests instead of a promise, of which the first
 * is the one that it works on; without one it stands at a yield or has not begun, and waits for nothing.
 */
function findPromise(heap: V8Heap, object: Tagged): Tagged | undefined {
  const { generator, generatorRequest, types } = heap.layout;
  const held = heap.field(object, generator.promise);
  if (!heap.isType(object, types.asyncGeneratorObject)) return held;
  if (!heap.isPointer(held)) return undefined;
  const promise = heap.field(held, generatorRequest.promise);
  return heap.isType(promise, types.jsPromise) ? promise : undefined;
}

/**
 * Follows the promise's reactions to the closure of an await, whose context contains the waiting function, also through
 * derived promises (`then`, `Promise.all`). Iterative: `open` contains the promises to be visited.
 */
function findAwaiter(heap: V8Heap, promise: Tagged): Tagged | undefined {
  const { promise: p, types } = heap.layout;
  const open = [promise];
  for (let i = 0; i < open.length && i < maxPromises; i++) {
    const current = open[i] as Tagged;
    if (!heap.isType(current, types.jsPromise)) continue;
    if (((heap.findSmi(current, p.flags) ?? -1) & p.statusMask) !== pending) continue;
    let reaction = heap.field(current, p.result);
    for (let n = 0; n < maxReactions && heap.isType(reaction, types.promiseReaction); n++) {
      const awaiter = followReaction(heap, reaction, open);
      if (awaiter !== undefined) return awaiter;
      reaction = heap.field(reaction, 8);
    }
  }
  return undefined;
}

/** The function that a reaction resumes; otherwise adds the promises that it settles to `open`. */
function followReaction(heap: V8Heap, reaction: Tagged, open: Tagged[]): Tagged | undefined {
  const { functionObject, fixedArray, types } = heap.layout;
  const words = heap.memory.readUint8(heap.map(reaction) - 1 + heap.layout.map.instanceSizeInWords);
  for (let i = 2; i < words; i++) {
    const value = heap.field(reaction, i * 8);
    if (heap.isType(value, types.jsPromise)) open.push(value);
    else if (heap.isType(value, types.promiseCapability)) open.push(heap.field(value, 8));
    if (!heap.isFunction(value)) continue;
    const context = heap.field(value, functionObject.context);
    if (!heap.isContext(context)) continue;
    const length = Math.min(heap.findSmi(context, fixedArray.length) ?? 0, 16);
    for (let slot = 2; slot < length; slot++) {
      const held = heap.field(context, fixedArray.data + slot * 8);
      if (isAsyncObject(heap, held)) return held;
      if (heap.isType(held, types.promiseCapability)) open.push(heap.field(held, 8));
    }
  }
  return undefined;
}

export function isAsyncObject(heap: V8Heap, value: Tagged): boolean {
  const { types } = heap.layout;
  return heap.isType(value, types.asyncFunctionObject) || heap.isType(value, types.asyncGeneratorObject);
}
