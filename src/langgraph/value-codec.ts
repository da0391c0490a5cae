/**
 * Between channel values and the blobs that hold them. An array of objects (a conversation) becomes a list of its
 * items, each a blob of its own: an item that is the same object and says the same as before is not serialized again,
 * so that a step costs what it added. Everything else is one blob. What bytes mean is the serializer's affair.
 */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Draft } from './draft.ts';
import type { Known, ThreadState } from './thread.ts';
import { findTwin, isAsItWas } from './twin.ts';

type Typed = [type: string, bytes: Uint8Array];
/** An item that was stored, or one that is new. */
type Item = Known | { object: object; typed: Typed };
export type Serialized = { whole: Typed } | { items: Item[] };

/**
 * Asynchronous, because serializers are: nothing is stored yet, and `state` may be another when it is. `before`: the
 * items of the channel's last value, where most will be found again.
 */
export async function serialize(
  serde: SerializerProtocol,
  { known }: ThreadState,
  value: unknown,
  before?: Known[],
): Promise<Serialized> {
  if (!isList(value)) return { whole: await serde.dumpsTyped(value) };
  const items: Item[] = [];
  for (let index = 0; index < value.length; index++) {
    const object = value[index]!;
    const likely = before?.[index];
    const item = likely?.object === object ? likely : known.get(object);
    if (item && isAsItWas(item.twin)) items.push(item);
    else items.push({ object, typed: await serde.dumpsTyped(object) });
  }
  return { items };
}

/** Puts a serialized value into the draft; `base` is the channel's value before. Returns the value's number. */
export function store(draft: Draft, state: ThreadState, value: Serialized, base?: number): number {
  if ('whole' in value) return draft.addValue(draft.addBlob(...value.whole));
  return draft.addList(
    value.items.map((item) => ('blob' in item ? item.blob : storeItem(draft, state, item))),
    base,
  );
}

/** Of a value that was stored: for the next time. */
export function knownItems({ known }: ThreadState, value: Serialized): Known[] {
  if ('whole' in value) return [];
  return value.items.flatMap((item) => ('blob' in item ? item : (known.get(item.object) ?? [])));
}

function storeItem(draft: Draft, { known }: ThreadState, { object, typed }: Exclude<Item, Known>): number {
  const blob = draft.addBlob(...typed);
  const twin = findTwin(object);
  if (twin) known.set(object, { object, twin, blob });
  else known.delete(object);
  return blob;
}

export function loadBlob(
  serde: SerializerProtocol,
  { index }: ThreadState,
  number: number,
): Promise<unknown> {
  const { type, spans } = index.blobs[number]!;
  return serde.loadsTyped(type, index.content.read(spans));
}

export function loadValue(serde: SerializerProtocol, state: ThreadState, number: number): Promise<unknown> {
  const items = state.index.findItems(number);
  if (items) return Promise.all(items.map((item) => loadBlob(serde, state, item)));
  return loadBlob(serde, state, state.index.values[number] as number);
}

/** An array that JSON would keep as it is: no holes, nothing but objects. */
function isList(value: unknown): value is object[] {
  if (!Array.isArray(value) || value.length === 0 || Object.getPrototypeOf(value) !== Array.prototype)
    return false;
  return value.every((item) => typeof item === 'object' && item !== null);
}
