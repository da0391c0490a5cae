/**
 * Reads one object directly from a core's memory, for what a heap snapshot lacks: numbers, bytes, entries of weak
 * collections, the target of a Proxy, where a function was written and its closure.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import { readCollection } from '../../../formats/v8/collections.ts';
import { readClosureVariables } from '../../../formats/v8/frames/contexts.ts';
import type { Tagged, V8Heap } from '../../../formats/v8/heap/heap.ts';
import { readElements, readOwnProperties } from '../../../formats/v8/properties.ts';
import { readHeldBytes, textOf } from '../../../formats/v8/typed-arrays.ts';
import { ValueRenderer } from '../../../formats/v8/values.ts';
import type { V8Runtime } from '../javascript/v8-runtime.ts';

export interface InspectedEntry {
  key: string;
  text: string;
  /** The address of an object with V8's tag; absent for other values. */
  pointer?: Tagged;
}

export interface InspectedObject {
  /** One line. */
  text: string;
  entries: InspectedEntry[];
  /** True if there are more entries than listed. */
  hasMore: boolean;
  /** Where a function is defined; absent for other objects. */
  source?: { file: string; scriptId: number; line: number; column: number };
}

const longest = { depth: 3, properties: 32, stringLength: 2000, objects: 200 };
const ofEntry = { depth: 1, properties: 8, stringLength: 200, objects: 20 };
/** How much of a buffer is searched for secrets, which are recognised by the text around them. */
const searchedBytes = 1 << 16;
const withheld = '(withheld: a secret stands in these bytes)';

interface Held {
  key: string;
  value: Tagged | undefined;
  /** An element that is stored as a number instead of a tagged value. */
  number?: number;
}

/**
 * Undefined if it is not a JavaScript object. Returns at most `limit` entries. `redact` receives each text together with the
 * name in front of it.
 */
export function inspectObject(
  v8: V8Runtime,
  object: Tagged,
  limit: number,
  redact: (text: string) => string,
): InspectedObject | undefined {
  const { heap } = v8;
  const type = heap.findType(object);
  if (type === undefined) return undefined;
  const held = whereMapped(() => heldBy(v8, object, limit + 1, ofEntryKey(v8, redact))) ?? [];
  const renderer = new ValueRenderer(heap, v8.functions, ofEntry);
  const render = (value: Tagged) =>
    holdsSecretNumbers(heap, value, redact) ? withheld : renderer.render(value);
  const entries = held.slice(0, limit).map(({ key, value, number }): InspectedEntry => {
    if (value === undefined) return { key, text: `${number ?? '(empty)'}` };
    const text = withoutName(key, redact(`${key} = ${render(value)}`));
    return { key, text, ...(heap.isPointer(value) && { pointer: value }) };
  });
  const source = whereMapped(() => placeOfFunction(v8, object));
  const text = holdsSecretNumbers(heap, object, redact)
    ? withheld
    : redact(new ValueRenderer(heap, v8.functions, longest).render(object));
  return { text, entries, hasMore: held.length > limit, ...(source && { source }) };
}

const ofEntryKey = (v8: V8Runtime, redact: (text: string) => string) => {
  const renderer = new ValueRenderer(v8.heap, v8.functions, ofEntry);
  return (key: Tagged) => redact(renderer.render(key));
};

/** The value in a text `<key> = <value>` that was redacted. */
export function withoutName(key: string, text: string): string {
  const start = `${key} = `;
  return text.startsWith(start) ? text.slice(start.length) : text;
}

/** Numbers can't be redacted: if the bytes contain anything that redaction would change, none are shown. */
function holdsSecretNumbers(heap: V8Heap, object: Tagged, redact: (text: string) => string): boolean {
  const held = whereMapped(() => readHeldBytes(heap, object, searchedBytes));
  if (!held?.bytes || textOf(held) !== undefined) return false;
  return (['latin1', 'utf16le'] as const).some((encoding) => {
    const text = Buffer.from(held.bytes ?? []).toString(encoding);
    return redact(text) !== text;
  });
}

function heldBy(v8: V8Runtime, object: Tagged, limit: number, keyText: (key: Tagged) => string): Held[] {
  const { heap } = v8;
  const { types, proxy, weakRefTarget, boundFunction, functionObject } = heap.layout;
  const field = (key: string, offset: number): Held => ({ key, value: heap.field(object, offset) });
  const collection = readCollection(heap, object, limit);
  if (collection)
    return collection.entries.map(({ key, value = key }, i) => ({
      key: value === key ? `[${i}]` : keyText(key),
      value,
    }));
  switch (heap.findType(object)) {
    case types.jsProxy:
      return [field('{target}', proxy.target), field('{handler}', proxy.handler)];
    case types.jsWeakRef:
      return [field('{target}', weakRefTarget)];
    case types.boundFunction:
      return [field('{target}', boundFunction.target)];
    case types.jsTypedArray:
      // A short typed array has its bytes inside; its buffer is only created when the program asks for it.
      return heap.field(object, heap.layout.typedArray.basePointer) === 0
        ? [field('{buffer}', heap.layout.typedArray.buffer)]
        : [];
    default:
  }
  if ((heap.findType(object) ?? 0) < types.jsProxy) return [];
  const variables = heap.isFunction(object)
    ? readClosureVariables(heap, heap.field(object, functionObject.context), limit)
    : [];
  const elements = readElements(heap, object, limit);
  return [
    ...variables.map(({ name, value, distance }) => ({ key: `(scope ${distance}) ${name}`, value })),
    ...elements.flatMap((element, i): Held[] => {
      if (element === 'hole') return [];
      if ('number' in element) return [{ key: `[${i}]`, value: undefined, number: element.number }];
      return heap.isSmi(element.value) || isThere(heap, element.value)
        ? [{ key: `[${i}]`, value: element.value }]
        : [];
    }),
    ...readOwnProperties(heap, object, limit)
      .filter(({ isAccessor, value }) => !isAccessor && !heap.isContext(value))
      .map(({ name, value }) => ({ key: name, value })),
  ];
}

/** False for the markers of missing elements: their type is invisible to programs, or they are an internal oddball. */
function isThere(heap: V8Heap, value: Tagged): boolean {
  const { types, oddballs, oddballKind } = heap.layout;
  const type = heap.findType(value);
  if (type === types.hole) return false;
  if (type !== types.oddball) return type !== undefined;
  return Object.values(oddballs).includes(heap.findSmi(value, oddballKind) ?? -1);
}

/** Where a function begins: at its parameters. */
function placeOfFunction(v8: V8Runtime, object: Tagged): InspectedObject['source'] {
  const { heap } = v8;
  const { types, boundFunction } = heap.layout;
  const closure = heap.isType(object, types.boundFunction)
    ? heap.field(object, boundFunction.target)
    : object;
  const found = v8.functions.ofClosure(closure);
  const place = found?.script && found.start !== undefined && v8.scripts.findPlace(found.script, found.start);
  return place && found?.script
    ? { file: found.script.name, scriptId: found.script.id ?? 0, ...place }
    : undefined;
}
