/** Checks the `this` of a frame as far as its name depends on it: a method's name begins with the class of its receiver. */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Functions } from '../../../formats/v8/frames/functions.ts';
import type { Tagged, V8Heap } from '../../../formats/v8/heap/heap.ts';
import { findMapConstructor, hasWholeDescriptors } from '../../../formats/v8/properties.ts';
import { isStringType } from '../../../formats/v8/strings.ts';

const unreadable = 'its receiver could not be read, so that the name lacks its class';
const nameless = 'the properties of its receiver could not be read, so that the method may lack its name';
const classless = 'the class of its receiver could not be read, so that the name lacks it';

/**
 * Undefined if nothing is wrong with it. `isUnnamed`: the function has no name of its own, but that of the receiver's property.
 */
export function doubtReceiver(
  heap: V8Heap,
  functions: Functions,
  value: Tagged,
  isUnnamed: boolean,
): string | undefined {
  if (!heap.isPointer(value)) return heap.isSmi(value) ? undefined : unreadable;
  const { types, map: fields } = heap.layout;
  const type = heap.findType(value);
  if (type === undefined) return unreadable;
  if (type < types.jsProxy) return isPrimitive(heap, type) ? undefined : unreadable;
  if (type === types.jsProxy || type === types.globalProxy || type === types.globalObject) return undefined;
  return (
    (whereMapped(() => {
      const map = heap.map(value);
      if (isUnnamed && !hasWholeDescriptors(heap, value)) return nameless;
      const maker = heap.isFunction(value) ? value : findMapConstructor(heap, map);
      const isBare = heap.isType(heap.field(map, fields.prototype), types.oddball);
      if (maker === undefined) return isBare ? '' : classless;
      const { doubt } = functions.ofClosure(maker) ?? { doubt: classless };
      return doubt ?? '';
    }) ??
      classless) ||
    undefined
  );
}

function isPrimitive({ layout: { types } }: V8Heap, type: number): boolean {
  return (
    isStringType(type) ||
    [types.heapNumber, types.oddball, types.symbol, types.bigInt, types.hole].includes(type)
  );
}
