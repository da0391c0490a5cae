/**
 * A WebSocket client for Node's inspector on this machine: text only, no extensions, fragments are joined. Node 20 has no
 * global WebSocket, and a dependency is not worth it for a hundred lines. Source: RFC 6455.
 */
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import type { Socket } from 'node:net';

/** Chunks of a heap snapshot are 64 KB; the report of a large process is several megabytes. */
const longestMessage = 256 * 1024 * 1024;
const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

export interface TextSocket {
  send(text: string): void;
  close(): void;
}

export interface TextSocketEvents {
  onText(text: string): void;
  /** Called once, whichever side closed the connection. */
  onClose(): void;
}

/** Rejects if there is no WebSocket server, or no connection within `timeoutMs`. */
export function connectWebSocket(
  url: string,
  events: TextSocketEvents,
  timeoutMs: number,
): Promise<TextSocket> {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  return new Promise((resolve, reject) => {
    const request = get(url.replace(/^ws:/, 'http:'), { headers, timeout: timeoutMs });
    request.once('upgrade', (_response, socket: Socket, head: Buffer) => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      resolve(talk(socket, head, events));
    });
    request.once('response', (response) => {
      response.resume();
      reject(new Error(`HTTP ${response.statusCode} instead of a WebSocket`));
    });
    request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.once('error', reject);
  });
}

function talk(socket: Socket, head: Buffer, events: TextSocketEvents): TextSocket {
  const frames = new FrameReader();
  let fragments: Buffer[] = [];
  const close = () => {
    if (!socket.destroyed) socket.end(encodeFrame(opcodes.close, Buffer.alloc(0)));
  };
  const take = (chunk: Buffer) => {
    for (const frame of frames.push(chunk)) {
      if (frame.opcode === opcodes.ping) socket.write(encodeFrame(opcodes.pong, frame.payload));
      else if (frame.opcode === opcodes.close) close();
      else if (frame.opcode === opcodes.text || frame.opcode === opcodes.continuation) {
        fragments.push(frame.payload);
        if (!frame.isLast) continue;
        const text = Buffer.concat(fragments).toString('utf8');
        fragments = [];
        events.onText(text);
      }
    }
  };
  const takeOrGiveUp = (chunk: Buffer) => {
    try {
      take(chunk);
    } catch {
      socket.destroy();
    }
  };
  socket.on('data', takeOrGiveUp);
  socket.once('close', () => events.onClose());
  socket.on('error', () => {});
  if (head.length) takeOrGiveUp(head);
  return { send: (text) => void socket.write(encodeFrame(opcodes.text, Buffer.from(text))), close };
}

interface Frame {
  opcode: number;
  isLast: boolean;
  payload: Buffer;
}

/** Splits the byte stream into frames. Frames of a server are not masked (5.1). */
export class FrameReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Number of bytes needed to continue with the first buffered frame. */
  #wanted = 2;

  /** Throws RangeError if a frame is too long. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    while (this.#heldBytes >= this.#wanted) {
      const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
      this.#held = [bytes];
      const frame = this.#cut(bytes);
      if (frame) yield frame;
    }
  }

  #cut(bytes: Buffer): Frame | undefined {
    const short = (bytes[1] ?? 0) & 0x7f;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    this.#wanted = head;
    if (bytes.length < head) return undefined;
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
    if (length > longestMessage) throw new RangeError(`a frame of ${length} bytes`);
    this.#wanted = head + length;
    if (bytes.length < this.#wanted) return undefined;
    const rest = bytes.subarray(this.#wanted);
    const first = bytes[0] ?? 0;
    const payload = bytes.subarray(head, head + length);
    this.#held = rest.length ? [rest] : [];
    this.#heldBytes = rest.length;
    this.#wanted = 2;
    return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload };
  }
}

/** Frames of a client are masked (5.3). */
function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.alloc(head + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (head === 2 ? length : head === 4 ? 126 : 127);
  if (head === 4) frame.writeUInt16BE(length, 2);
  if (head === 10) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(frame, head);
  for (let i = 0; i < length; i++) frame[head + 4 + i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return frame;
}
