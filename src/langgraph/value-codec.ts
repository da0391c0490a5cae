/**
 * Converts between channel values and the blobs that contain them. An array of objects (a conversation) becomes a list of
 * items, each a separate blob. An item that is the same unchanged object as before is not serialized again, so that a step
 * costs only what it added. Any other value is a single blob. The format of the bytes is up to the serializer.
 */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Draft } from './draft.ts';
import { isAsItWas, takeFingerprint } from './fingerprint.ts';
import type { Known, Recent, ThreadState } from './thread.ts';

type Typed = [type: string, bytes: Uint8Array];
/** An item that is already stored, or a new one. */
type Item = Known | { object: object; typed: Typed };
/** A list begins with the first `keep` items of the channel's last list. */
export type Serialized = { whole: Typed } | { last: Recent | undefined; keep: number; items: Item[] };

/**
 * Asynchronous, because serializers are. Nothing is stored yet, and `state` may have been replaced by the time it resolves.
 */
export async function serialize(
  serde: SerializerProtocol,
  { known }: ThreadState,
  value: unknown,
  last?: Recent,
): Promise<Serialized> {
  if (!isList(value)) return { whole: await serde.dumpsTyped(value) };
  const keep = last ? countUnchanged(value, last.items) : 0;
  const items: Item[] = [];
  for (const object of keep > 0 ? value.slice(keep) : value) {
    const item = known.get(object);
    items.push(
      item && isAsItWas(item.fingerprint) ? item : { object, typed: await serde.dumpsTyped(object) },
    );
  }
  return { last, keep, items };
}

/** Adds a serialized value to the draft; `base` is the channel's previous value. */
export function store(draft: Draft, state: ThreadState, value: Serialized, base?: number): Recent {
  if ('whole' in value) return { value: draft.addValue(draft.addBlob(...value.whole)), items: [] };
  const { last, keep } = value;
  const added = value.items.map((item) => ('blob' in item ? item : storeItem(draft, state, item)));
  const items = last ? last.items.slice(0, keep).concat(added) : added;
  const blobs = items.map((item) => item.blob);
  if (last === undefined || last.value !== base || keep === 0)
    return { value: draft.addList(blobs, base), items };
  if (keep === last.items.length && added.length === 0) return last;
  return { value: draft.addToList(base, keep, blobs), items };
}

/** The number of leading items that are the same unchanged objects as before. */
function countUnchanged(value: object[], before: Known[]): number {
  const most = Math.min(value.length, before.length);
  let count = 0;
  while (count < most && value[count] === before[count]!.object && isAsItWas(before[count]!.fingerprint))
    count++;
  return count;
}

/** An item without a fingerprint is considered changed each time. */
function storeItem(draft: Draft, { known }: ThreadState, { object, typed }: Exclude<Item, Known>): Known {
  const blob = draft.addBlob(...typed);
  const item = { object, fingerprint: takeFingerprint(object), blob };
  known.set(object, item);
  return item;
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

/** An array that survives JSON unchanged: no holes, and only objects. */
function isList(value: unknown): value is object[] {
  if (!Array.isArray(value) || value.length === 0 || Object.getPrototypeOf(value) !== Array.prototype)
    return false;
  return value.every((item) => typeof item === 'object' && item !== null);
}
