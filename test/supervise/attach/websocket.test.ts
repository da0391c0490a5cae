/** Frames of a WebSocket server, however the bytes are split. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader } from '../../../src/supervise/attach/websocket.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

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

test('any frames in chunks of any sizes come out as they went in', { skip: onlyWide }, () => {
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ minLength: 65_530, maxLength: 65_540 }),
  );
  const one = fc.record({ opcode: fc.constantFrom(0, 1, 8, 9, 10), payload, isLast: fc.boolean() });
  const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), sizes, (frames, chunkSizes) => {
      const bytes = Buffer.concat(frames.map((f) => frame(f.opcode, Buffer.from(f.payload), f.isLast)));
      const found = readAll(bytes, chunkSizes);
      assert.deepEqual(
        found,
        frames.map((f) => [f.opcode, f.isLast, Buffer.from(f.payload).toString('hex')]),
      );
    }),
    { numRuns: fuzzRuns(100), seed: 8 },
  );
});

test('any bytes give frames no longer than they are, or a RangeError', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), sizes, (bytes, chunkSizes) => {
      try {
        const found = readAll(Buffer.from(bytes), chunkSizes);
        const held = found.reduce((sum, [, , hex]) => sum + String(hex).length / 2 + 2, 0);
        assert.ok(held <= bytes.length);
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error));
      }
    }),
    { numRuns: fuzzRuns(2000), seed: 8 },
  );
});

function readAll(bytes: Buffer, sizes: number[]): unknown[][] {
  const reader = new FrameReader();
  const found: unknown[][] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const end = at + sizes[n % sizes.length]!;
    for (const { opcode, isLast, payload } of reader.push(bytes.subarray(at, end)))
      found.push([opcode, isLast, payload.toString('hex')]);
    at = end;
  }
  return found;
}
