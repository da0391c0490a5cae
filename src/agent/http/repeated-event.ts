/**
 * Parses the events of a stream. Most of them differ from the one before only in a piece of text. The text around that piece is
 * kept, and while it stays the same, only the piece is read. The result of such an event is the same object each time. Where
 * many of them stand one after the other, their pieces are joined and read as one event, because a provider's reader only
 * appends the piece.
 */
import { isObject, type JsonObject, parseJson } from '../calls/json.ts';
import type { TextPath } from '../calls/model-call.ts';

interface Repeated {
  before: string;
  after: string;
  value: unknown;
  /** The object in `value` that has the piece. */
  holder: JsonObject;
  key: string;
  /** The whole event around the piece, as most servers write it. */
  name: string | undefined;
  lineBefore: string;
  lineAfter: string;
}

/** Events that differ only in their piece. */
export interface EventRun {
  name: string | undefined;
  /** An event with the pieces of all. */
  value: unknown;
  count: number;
  /** The position after the last of them. */
  end: number;
}

const eventEnd = '\n\n';
/** From this length on, V8 makes a slice that keeps the whole event alive. */
const leastSliced = 13;
/** Put in place of the piece to prove that this place is the value at the path. */
const probe = 'agentdump';
/** Some hosts add a random text to each event, so that none resembles the one before. */
const mostInVain = 4;

export class EventParser {
  readonly #path: TextPath | undefined;
  #repeated: Repeated | undefined;
  #inVain = 0;

  constructor(path: TextPath | undefined) {
    this.#path = path;
  }

  /** The value of an event, to be read before the next one is parsed; undefined if the text is not JSON. */
  parse(text: string, name?: string): unknown {
    const repeated = this.#repeat(text, name);
    if (repeated !== undefined) return repeated;
    const value = parseJson(text);
    if (this.#path && this.#inVain < mostInVain) this.#learn(text, name, value, this.#path);
    return value;
  }

  /** The events like the last one that stand in a stream's `text` from `start` on; undefined if there is none. */
  readRun(text: string, start: number): EventRun | undefined {
    if (!this.#repeated) return undefined;
    const { lineBefore, lineAfter, name, value, holder, key } = this.#repeated;
    let joined = '';
    let count = 0;
    let end = start;
    for (; ; count++) {
      const from = end + lineBefore.length;
      if (text.slice(end, from) !== lineBefore) break;
      // The end of the line, which is near; a search for the blank line would go through the whole text if there is none.
      const next = text.indexOf('\n', from) + eventEnd.length;
      const to = next - lineAfter.length;
      if (to < from || text.slice(to, next) !== lineAfter) break;
      const piece = text.slice(from, to);
      if (!isPlain(piece)) break;
      joined += piece;
      end = next;
    }
    if (count === 0) return undefined;
    // A copy, since longer pieces keep the text alive, and in one piece, which takes less memory.
    holder[key] = joined.length < leastSliced ? joined : parseJson(`"${joined}"`);
    this.#inVain = 0;
    return { name, value, count, end };
  }

  #repeat(text: string, name: string | undefined): unknown {
    if (!this.#repeated || this.#repeated.name !== name) return undefined;
    const { before, after, value, holder, key } = this.#repeated;
    const end = text.length - after.length;
    // Four times as fast as startsWith and endsWith.
    if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after)
      return undefined;
    const piece = text.slice(before.length, end);
    const read = piece.length < leastSliced && isPlain(piece) ? piece : parseJson(`"${piece}"`);
    if (typeof read !== 'string') return undefined;
    holder[key] = read;
    this.#inVain = 0;
    return value;
  }

  #learn(text: string, name: string | undefined, value: unknown, path: TextPath): void {
    const key = path.at(-1) as string;
    const piece = holderOf(value, path)?.[key];
    if (typeof piece !== 'string' || piece === '') return;
    const at = text.indexOf(`"${piece}"`);
    if (at === -1) return;
    const before = text.slice(0, at + 1);
    const after = text.slice(at + 1 + piece.length);
    const proven = parseJson(before + probe + after);
    const holder = holderOf(proven, path);
    if (holder?.[key] !== probe) return;
    const lineBefore = `${name === undefined ? '' : `event: ${name}\n`}data: ${before}`;
    const lineAfter = after + eventEnd;
    this.#repeated = { before, after, value: proven, holder, key, name, lineBefore, lineAfter };
    this.#inVain++;
  }
}

/** It contains no escape, and nothing that would end the string or is not permitted in JSON. */
function isPlain(piece: string): boolean {
  for (let at = 0; at < piece.length; at++) {
    const unit = piece.charCodeAt(at);
    if (unit === 0x22 || unit === 0x5c || unit < 0x20) return false;
  }
  return true;
}

function holderOf(value: unknown, path: TextPath): JsonObject | undefined {
  let holder = value;
  for (const key of path.slice(0, -1)) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
    holder = (holder as JsonObject)[key];
  }
  return isObject(holder) ? holder : undefined;
}
