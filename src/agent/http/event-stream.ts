/**
 * Incremental decoder of Amazon's `application/vnd.amazon.eventstream` framing, as Bedrock streams its replies: total
 * length, headers' length, prelude CRC (4 bytes each, big-endian), headers, payload, message CRC. Only string headers
 * are kept. The checksums are left to the client, which reads the same bytes. Source: Amazon Transcribe developer
 * guide, "event stream encoding".
 */
import { defaultEventLimit } from './sse.ts';

export interface EventStreamFrame {
  headers: Record<string, string>;
  payload: string;
}

const preludeBytes = 12;
const frameOverheadBytes = 16;
const stringHeader = 7;
/** The size of a header's value by its type; -1 for types that are preceded by a 2-byte length. */
const valueBytes = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];

export class EventStreamDecoder {
  /** Set by an invalid frame. Nothing after it is decoded. */
  broken = false;
  readonly #limit: number;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(limit = defaultEventLimit) {
    this.#limit = limit;
  }

  /** Calls `onFrame` for each frame that `chunk` completes. */
  push(chunk: Uint8Array, onFrame: (frame: EventStreamFrame) => void): void {
    if (this.broken) return;
    let bytes = this.#buffered.length ? Buffer.concat([this.#buffered, chunk]) : Buffer.from(chunk);
    while (bytes.length >= preludeBytes) {
      const total = bytes.readUInt32BE(0);
      if (total < frameOverheadBytes || total > this.#limit) {
        this.#fail();
        return;
      }
      if (bytes.length < total) break;
      const frame = readFrame(bytes.subarray(0, total));
      if (!frame) {
        this.#fail();
        return;
      }
      onFrame(frame);
      bytes = bytes.subarray(total);
    }
    this.#buffered = Buffer.from(bytes);
  }

  #fail(): void {
    this.broken = true;
    this.#buffered = Buffer.alloc(0);
  }
}

function readFrame(frame: Buffer): EventStreamFrame | undefined {
  const headersEnd = preludeBytes + frame.readUInt32BE(4);
  if (headersEnd > frame.length - 4) return undefined;
  const headers: Record<string, string> = {};
  let at = preludeBytes;
  while (at < headersEnd) {
    const nameLength = frame[at] ?? 0;
    const type = frame[at + 1 + nameLength] ?? 255;
    let value = at + 2 + nameLength;
    let length = valueBytes[type];
    if (length === undefined || value + 2 > frame.length) return undefined;
    if (length === -1) {
      length = frame.readUInt16BE(value);
      value += 2;
    }
    if (value + length > headersEnd) return undefined;
    if (type === stringHeader)
      headers[frame.toString('utf8', at + 1, at + 1 + nameLength)] = frame.toString(
        'utf8',
        value,
        value + length,
      );
    at = value + length;
  }
  return { headers, payload: frame.toString('utf8', headersEnd, frame.length - 4) };
}
