/**
 * Incremental decoder of server-sent events (WHATWG HTML, section 9.2.6): takes bytes in chunks of any size and emits events.
 * Handles CR, LF, CRLF, a byte order mark, comments, multiple data lines, and UTF-8 split at any byte. Bounded: an event
 * longer than the limit is dropped and counted. Knows nothing of what the events mean.
 */

export interface SseEvent {
  /** The `event:` field; undefined when the event has none. */
  event: string | undefined;
  data: string;
}

/** Reads whole events that it knows in `text` from `start` on, and returns the position after them. */
export type PassRun = (text: string, start: number) => number;

export const defaultEventLimit = 4 * 1024 * 1024;

export class SseDecoder {
  /** Events that were longer than the limit. */
  dropped = 0;
  readonly #limit: number;
  readonly #passRun: PassRun | undefined;
  readonly #utf8 = new TextDecoder('utf-8');
  /** Text after the last line end. */
  #rest = '';
  #event: string | undefined;
  #data: string[] = [];
  #dataLength = 0;
  #tooLong = false;
  /** The last chunk ended with CR. An LF at the start of the next one belongs to it. */
  #afterCr = false;

  constructor(limit = defaultEventLimit, passRun?: PassRun) {
    this.#limit = limit;
    this.#passRun = passRun;
  }

  /** Calls `onEvent` for each event that `chunk` completes. */
  push(chunk: Uint8Array, onEvent: (event: SseEvent) => void): void {
    this.#feed(this.#utf8.decode(chunk, { stream: true }), onEvent);
  }

  /** Also emits the last event, which a server that closes early may send without its blank line. */
  end(onEvent: (event: SseEvent) => void): void {
    this.#feed(this.#utf8.decode(), onEvent);
    if (this.#rest !== '') this.#line(this.#rest, onEvent);
    this.#rest = '';
    this.#dispatch(onEvent);
  }

  #feed(decoded: string, onEvent: (event: SseEvent) => void): void {
    let text = decoded;
    if (text === '') return;
    if (this.#afterCr && text.charCodeAt(0) === 10) text = text.slice(1);
    this.#afterCr = decoded.charCodeAt(decoded.length - 1) === 13;
    // `#rest` contains no line end, so only the new text is searched. The position of the next CR is cached, because most
    // streams contain none and each search would scan the whole chunk.
    let start = 0;
    let lf = text.indexOf('\n');
    let cr = text.indexOf('\r');
    while (lf !== -1 || cr !== -1) {
      const isLf = lf !== -1 && (cr === -1 || lf < cr);
      // Events that it knows end their lines with LF.
      if (this.#passRun && isLf && this.#isBetweenEvents()) {
        const passed = this.#passRun(text, start);
        if (passed > start) {
          start = passed;
          lf = text.indexOf('\n', start);
          if (cr !== -1 && cr < start) cr = text.indexOf('\r', start);
          continue;
        }
      }
      const end = isLf ? lf : cr;
      const line = text.slice(start, end);
      this.#line(this.#rest === '' ? line : this.#rest + line, onEvent);
      this.#rest = '';
      start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      if (lf !== -1 && lf < start) lf = text.indexOf('\n', start);
      if (cr !== -1 && cr < start) cr = text.indexOf('\r', start);
    }
    this.#keep(text.slice(start));
  }

  #isBetweenEvents(): boolean {
    return this.#rest === '' && this.#event === undefined && this.#dataLength === 0 && !this.#tooLong;
  }

  #keep(rest: string): void {
    if (this.#rest.length + rest.length > this.#limit) {
      this.#tooLong = true;
      // With a leading colon, the remainder of the line is parsed as a comment.
      this.#rest = ':';
    } else this.#rest += rest;
  }

  #line(line: string, onEvent: (event: SseEvent) => void): void {
    if (line === '') {
      this.#dispatch(onEvent);
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const from = colon === -1 ? line.length : line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1;
    if (field === 'data') this.#addData(line.slice(from));
    else if (field === 'event') this.#event = line.slice(from);
  }

  #addData(value: string): void {
    this.#dataLength += value.length + 1;
    if (this.#dataLength > this.#limit) this.#tooLong = true;
    else this.#data.push(value);
  }

  #dispatch(onEvent: (event: SseEvent) => void): void {
    const [first] = this.#data;
    if (this.#tooLong) this.dropped++;
    else if (first !== undefined)
      onEvent({ event: this.#event, data: this.#data.length === 1 ? first : this.#data.join('\n') });
    this.#event = undefined;
    if (this.#data.length) this.#data = [];
    this.#dataLength = 0;
    this.#tooLong = false;
  }
}
