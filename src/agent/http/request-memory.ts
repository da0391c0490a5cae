/**
 * Reads the body of a request to a model. Agents send their whole history with every call. If a body begins like an earlier
 * one, only the new rest is read, so that a call costs what its new messages cost, not the whole conversation. Bounded: the
 * oldest bodies are evicted, after which a body is read completely. Does not know what a message looks like; that is up to
 * the provider's reader.
 */
import { isObject, type JsonObject, parseJson } from '../calls/json.ts';
import type { ModelRequest } from '../calls/model-call.ts';
import { findList, type JsonList, readElements } from './json-list.ts';

/** Creates a request from a parsed body; undefined if it is not a request. */
export type RequestReader = (body: JsonObject) => ModelRequest | undefined;

interface Remembered {
  /** The destination. Only requests to the same destination are compared. */
  place: string;
  /** A copy, because the host may overwrite its own buffer. */
  bytes: Buffer;
  list: JsonList;
  /** The body with an empty list. */
  rest: JsonObject;
  /** Ids of the messages in the list, in order. */
  ids: string[];
}

const listFields = new Set(['messages', 'contents', 'input']);
/** Smaller bodies are read completely, which is cheaper than comparing them. */
const smallestBytes = 1024;
const rememberedLimit = 8;
const bytesLimit = 8 * 1024 * 1024;
const blockBytes = 4096;
const growth = 1.5;
const closeBrace = 0x7d;

export class RequestMemory {
  /** The newest is last. */
  #remembered: Remembered[] = [];

  /**
   * The request; undefined if the body is not a JSON object or the reader finds no request in it. The bytes belong to the
   * host and are not accessed after the call.
   */
  read(place: string, bytes: Buffer, readRequest: RequestReader): ModelRequest | undefined {
    return this.#readNew(place, bytes, readRequest) ?? this.#readWhole(place, bytes, readRequest);
  }

  #readWhole(place: string, bytes: Buffer, readRequest: RequestReader): ModelRequest | undefined {
    const body = parseJson(bytes.toString());
    if (!isObject(body)) return undefined;
    const request = readRequest(body);
    if (!request || !isComparable(request) || bytes.length < smallestBytes) return request;
    const list = findList(bytes, listFields);
    if (list?.ends.length !== request.messages.length) return request;
    const remembered = { place, bytes, list, rest: { ...body, [list.field]: [] }, ids: [] };
    return { ...request, learnIds: (ids) => this.#keep({ ...remembered, ids }) };
  }

  /**
   * The request as an earlier one plus new messages; undefined if no earlier body begins like this, or if it can't be
   * determined.
   */
  #readNew(place: string, bytes: Buffer, readRequest: RequestReader): ModelRequest | undefined {
    const before = this.#findLongest(place, bytes);
    if (!before) return undefined;
    const { earlier, count } = before;
    const list = readElements(
      bytes,
      earlier.list.field,
      earlier.list.start,
      earlier.list.ends.slice(0, count),
      earlier.list.ends[count - 1] as number,
    );
    const rest = list && readRest(bytes, list, earlier);
    const added = list && readAdded(bytes, list, count);
    if (!rest || !added) return undefined;
    const request = readRequest({ ...rest, [list.field]: added });
    if (!request || !isComparable(request) || request.messages.length !== added.length) return undefined;
    const remembered = { place, bytes, list, rest };
    return {
      ...request,
      known: earlier.ids.slice(0, count),
      learnIds: (ids) => this.#keep({ ...remembered, ids }, earlier),
    };
  }

  #findLongest(place: string, bytes: Buffer): { earlier: Remembered; count: number } | undefined {
    let found: { earlier: Remembered; count: number } | undefined;
    for (const earlier of this.#remembered) {
      if (earlier.place !== place) continue;
      const count = sharedElements(earlier, bytes);
      if (count > (found?.count ?? 0)) found = { earlier, count };
    }
    return found;
  }

  /** Remembers a body. If it continues `earlier`, it replaces that one and takes over its memory. */
  #keep(remembered: Remembered, earlier?: Remembered): void {
    // A message without a known id (a reference to one that the server stores) can't be referred to later.
    if (remembered.ids.length !== remembered.list.ends.length) return;
    const others = this.#remembered.filter((one) => one !== earlier);
    others.push({ ...remembered, bytes: copyOver(earlier?.bytes, remembered.bytes) });
    let total = 0;
    this.#remembered = others.reverse().filter(({ bytes }, at) => {
      total += bytes.buffer.byteLength;
      return at < rememberedLimit && total <= bytesLimit;
    });
    this.#remembered.reverse();
  }
}

/** A copy of `bytes`. If the memory of the earlier body is large enough, only the new bytes are copied into it. */
function copyOver(earlier: Buffer | undefined, bytes: Buffer): Buffer {
  if (earlier && earlier.buffer.byteLength >= bytes.length) {
    const shared = sharedBytes(earlier, bytes);
    const copy = Buffer.from(earlier.buffer, 0, bytes.length);
    bytes.copy(copy, shared, shared);
    return copy;
  }
  const roomy = Buffer.allocUnsafeSlow(Math.ceil(bytes.length * growth));
  bytes.copy(roomy);
  return roomy.subarray(0, bytes.length);
}

/** Whether the list contains the complete conversation that the request sends. */
function isComparable(request: ModelRequest): boolean {
  return request.previousReply === undefined && request.serverConversation === undefined;
}

/**
 * The number of elements of the earlier list with which this body begins. Only objects count, because their end is
 * unambiguous.
 */
function sharedElements({ bytes: earlier, list }: Remembered, bytes: Buffer): number {
  const shared = sharedBytes(earlier, bytes);
  if (shared < list.start) return 0;
  let count = 0;
  while (count < list.ends.length && (list.ends[count] as number) <= shared) {
    if (earlier[(list.ends[count] as number) - 1] !== closeBrace) return 0;
    count++;
  }
  return count;
}

/** The length of the common prefix. */
function sharedBytes(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at + blockBytes <= most && a.compare(b, at, at + blockBytes, at, at + blockBytes) === 0)
    at += blockBytes;
  while (at < most && a[at] === b[at]) at++;
  return at;
}

/** Everything except the list. Returns the object of the earlier body if nothing in it has changed. */
function readRest(bytes: Buffer, list: JsonList, earlier: Remembered): JsonObject | undefined {
  const { list: earlierList, bytes: earlierBytes } = earlier;
  if (bytes.compare(earlierBytes, earlierList.close, earlierBytes.length, list.close) === 0)
    return earlier.rest;
  const rest = parseJson(bytes.toString('utf8', 0, list.start) + bytes.toString('utf8', list.close));
  return isObject(rest) ? rest : undefined;
}

function readAdded(bytes: Buffer, list: JsonList, count: number): JsonObject[] | undefined {
  if (list.ends.length === count) return [];
  const comma = bytes.indexOf(0x2c, list.ends[count - 1] as number);
  const added = parseJson(`[${bytes.toString('utf8', comma + 1, list.close)}]`);
  return Array.isArray(added) && added.length === list.ends.length - count && added.every(isObject)
    ? added
    : undefined;
}
