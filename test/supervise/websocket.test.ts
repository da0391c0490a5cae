/** Frames of a WebSocket server, however the bytes come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader } from '../../src/supervise/websocket.ts';

/** RFC 6455, 5.2: FIN and opcode, length in 7, 16 or 64 bits, no mask. */
function frame(opcode: number, payload: Buffer, isLast = true): Buffer {
  const first = (isLast ? 0x80 : 0) | opcode;
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
const payloads = ['', 'a', 'x'.repeat(125), 'y'.repeat(126), 'z'.repeat(65_535), 'w'.repeat(65_536), 'end'];
const stream = Buffer.concat(payloads.map((text, i) => frame(i % 2 ? 1 : 0, Buffer.from(text), i % 3 > 0)));

for (const size of [1, 2, 3, 5, 7, 4096, stream.length])
  test(`chunks of ${size} bytes give the same frames`, () => {
    const reader = new FrameReader();
    const found = [];
    for (let at = 0; at < stream.length; at += size)
      for (const { opcode, isLast, payload } of reader.push(stream.subarray(at, at + size)))
        found.push([opcode, isLast, payload.toString()]);
    assert.deepEqual(
      found,
      payloads.map((text, i) => [i % 2 ? 1 : 0, i % 3 > 0, text]),
    );
  });

test('a frame of absurd length is refused before its bytes are waited for', () => {
  const head = Buffer.from([0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  assert.throws(() => [...new FrameReader().push(head)], RangeError);
});
