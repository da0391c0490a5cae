/**
 * Reads the bytes of a reply: undoes the encoding, detects the framing (server-sent events, lines of JSON, Amazon's event
 * stream, or a single JSON text) and passes each piece to the provider's reader. Bounded. Knows no provider. Arriving bytes
 * are copied and read later, many pieces at once (`drain`), because the program waits for its next token meanwhile: reading
 * each piece separately took as long as all the work that Node does for it.
 */

import { parseJson } from '../calls/json.ts';
import type { ProviderFormat } from '../calls/model-call.ts';
import type { ReplyBuilder } from '../calls/reply.ts';
import { ContentDecoder } from './content-decoder.ts';
import { EventStreamDecoder } from './event-stream.ts';
import { LineDecoder } from './ndjson.ts';
import { EventParser } from './repeated-event.ts';
import { defaultEventLimit, SseDecoder } from './sse.ts';

type Framing = 'json' | 'sse' | 'lines' | 'event-stream';

const jsonLimitBytes = 32 * 1024 * 1024;
/** The most bytes that are delayed. Larger pieces are read immediately, because copying them would gain nothing. */
const waitingBytes = 16 * 1024;
const largePiece = waitingBytes / 4;
/** Buffers for reuse. A new buffer per reply would be external memory that is only freed by V8's next full collection. */
const spare: Buffer[] = [];
const mostSpare = 4;

export class ReplyReader {
  /** Wire bytes so far. */
  bytes = 0;
  /** Events, lines or frames so far; 0 for a reply of one JSON text. */
  frames = 0;
  /** Why the content could not be read. */
  gap: string | undefined;
  readonly #format: ProviderFormat;
  readonly #reply: ReplyBuilder;
  readonly #decoder: ContentDecoder;
  readonly #sse = new SseDecoder(defaultEventLimit, (text, start) => this.#readRun(text, start));
  readonly #lines = new LineDecoder();
  readonly #eventStream = new EventStreamDecoder();
  readonly #events: EventParser;
  #framing: Framing | undefined;
  #waiting: Buffer | undefined;
  #waitingBytes = 0;
  #json: Uint8Array[] = [];
  #jsonBytes = 0;

  constructor(
    format: ProviderFormat,
    reply: ReplyBuilder,
    contentType: string,
    encoding: string | undefined,
  ) {
    this.#format = format;
    this.#reply = reply;
    this.#events = new EventParser(format.textAt);
    this.#decoder = new ContentDecoder(encoding);
    this.#framing = framingOf(contentType);
  }

  get isStream(): boolean {
    return this.#framing !== undefined && this.#framing !== 'json';
  }

  /** The bytes belong to the program: it may change or transfer them once this has returned. */
  push(wire: Uint8Array): void {
    const { length } = wire;
    this.bytes += length;
    if (this.#waitingBytes + length > waitingBytes) this.drain();
    if (length > largePiece) {
      this.drain();
      this.#read(wire);
      return;
    }
    this.#waiting ??= spare.pop() ?? Buffer.allocUnsafeSlow(waitingBytes);
    this.#waiting.set(wire, this.#waitingBytes);
    this.#waitingBytes += length;
  }

  /** Reads everything that has arrived. */
  drain(): void {
    if (!this.#waiting || this.#waitingBytes === 0) return;
    const wire = this.#waiting.subarray(0, this.#waitingBytes);
    this.#waitingBytes = 0;
    this.#read(wire);
  }

  #read(wire: Uint8Array): void {
    const chunk = this.#decoder.push(wire);
    if (this.#decoder.broken) this.gap ??= 'the content encoding could not be undone';
    if (!chunk?.length) return;
    this.#framing ??= sniff(chunk);
    if (this.#framing === 'sse') this.#sse.push(chunk, this.#onSse);
    else if (this.#framing === 'lines') this.#lines.push(chunk, this.#onLine);
    else if (this.#framing === 'event-stream') this.#pushFrames(chunk);
    else this.#keepJson(chunk);
  }

  /** No more bytes will arrive. A partial piece is read as far as possible. */
  end(): void {
    this.drain();
    if (this.#waiting && spare.length < mostSpare) spare.push(this.#waiting);
    this.#waiting = undefined;
    this.#decoder.end();
    if (this.#framing === 'sse') this.#sse.end(this.#onSse);
    else if (this.#framing === 'lines') this.#lines.end(this.#onLine);
    else if (this.#framing === 'json') this.#readJson();
    this.#json = [];
    if (this.#sse.dropped + this.#lines.dropped > 0) this.gap ??= 'a frame was longer than the limit';
  }

  #onSse = ({ event, data }: { event: string | undefined; data: string }): void => {
    // OpenAI's last event is not JSON; its reader treats undefined as the end.
    if (data === '[DONE]') this.#format.readEvent(event, undefined, this.#reply);
    else this.#readEvent(event, data);
  };

  #onLine = (line: string): void => this.#readEvent(undefined, line);

  #readEvent(name: string | undefined, text: string): void {
    this.frames++;
    const value = this.#events.parse(text, name);
    if (value !== undefined) this.#format.readEvent(name, value, this.#reply);
    // Recorded as evidence: the client's parser will fail on what the server sent.
    else this.#reply.error ??= { type: 'malformed_event', message: text.slice(0, 2000) };
  }

  #readRun(text: string, start: number): number {
    const run = this.#events.readRun(text, start);
    if (!run) return start;
    this.frames += run.count;
    this.#format.readEvent(run.name, run.value, this.#reply);
    return run.end;
  }

  #pushFrames(chunk: Uint8Array): void {
    this.#eventStream.push(chunk, ({ headers, payload }) => {
      this.#readEvent(headers[':event-type'] ?? headers[':exception-type'], payload);
    });
    if (this.#eventStream.broken) this.gap ??= 'a frame broke the format';
  }

  #keepJson(chunk: Uint8Array): void {
    this.#jsonBytes += chunk.length;
    if (this.#jsonBytes > jsonLimitBytes) {
      this.gap ??= 'the reply was larger than the limit';
      this.#json = [];
    } else this.#json.push(Buffer.from(chunk));
  }

  #readJson(): void {
    if (!this.#json.length) return;
    const text = Buffer.concat(this.#json).toString('utf8');
    const body = parseJson(text);
    if (body === undefined) {
      this.gap ??= 'the reply is no whole JSON text';
      // HTML from a proxy is not a message of the model. It is recorded as an error.
      this.#reply.error ??= { type: 'malformed_reply', message: text.slice(0, 2000) };
    } else this.#format.readReply(body, this.#reply);
  }
}

function framingOf(contentType: string): Framing | undefined {
  const type = contentType.toLowerCase();
  if (type.includes('text/event-stream')) return 'sse';
  // The last one is for version 1 of Cohere's API.
  if (/ndjson|jsonl|stream\+json/.test(type)) return 'lines';
  if (type.includes('vnd.amazon.eventstream')) return 'event-stream';
  return type.includes('json') ? 'json' : undefined;
}

/** Some servers stream as `text/plain`. Events start with a field name, JSON does not. */
function sniff(chunk: Uint8Array): Framing {
  const start = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, 16))
    .toString('latin1')
    .trimStart();
  return /^(data|event|id|retry)?:/.test(start) ? 'sse' : 'json';
}
