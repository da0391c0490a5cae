/** Server-sent events, JSON lines, Amazon's event stream and content encodings, in chunks of every size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, crc32, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { ContentDecoder } from '../../../src/agent/http/content-decoder.ts';
import { EventStreamDecoder, type EventStreamFrame } from '../../../src/agent/http/event-stream.ts';
import { LineDecoder } from '../../../src/agent/http/ndjson.ts';
import { SseDecoder, type SseEvent } from '../../../src/agent/http/sse.ts';
import '../../support/run/fuzz-runs.ts';

function chunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

function decodeSse(text: string, size = text.length || 1, limit?: number): SseEvent[] {
  const decoder = new SseDecoder(limit);
  const events: SseEvent[] = [];
  for (const chunk of chunksOf(Buffer.from(text), size)) decoder.push(chunk, (event) => events.push(event));
  decoder.end((event) => events.push(event));
  return events;
}

test('events with every kind of line end, comments, fields without a space, and several data lines', () => {
  const text =
    '\uFEFFdata: one\n\n: comment\nevent: x\ndata:two\r\n\r\nid: 1\rdata: thr\rdata: ee é€😀\r\rdata\n\nevent: none\n\nretry: 5\ndata: last';
  const expected = [
    { event: undefined, data: 'one' },
    { event: 'x', data: 'two' },
    { event: undefined, data: 'thr\nee é€😀' },
    { event: undefined, data: '' },
    { event: undefined, data: 'last' },
  ];
  for (const size of [1, 2, 3, 4, 5, 6, 7, 1000])
    assert.deepEqual(decodeSse(text, size), expected, `chunks of ${size}`);
});

test('an event over the limit is dropped and counted, and the next one is read', () => {
  const decoder = new SseDecoder(100);
  const events: SseEvent[] = [];
  const text = `data: ${'x'.repeat(500)}\n\ndata: ok\n\n${'data: 0123456789\n'.repeat(30)}\ndata: ok\n\n`;
  for (const size of [1, 7, 5000]) {
    for (const chunk of chunksOf(Buffer.from(text), size)) decoder.push(chunk, (event) => events.push(event));
    assert.deepEqual(
      events.splice(0).map(({ data }) => data),
      ['ok', 'ok'],
      `chunks of ${size}`,
    );
  }
  assert.equal(decoder.dropped, 6);
});

test('any events survive any cutting', () => {
  const data = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n\0]/g, ' '));
  fc.assert(
    fc.property(fc.array(data, { maxLength: 5 }), fc.integer({ min: 1, max: 9 }), (texts, size) => {
      const wire = texts.map((text) => `data: ${text}\n\n`).join('');
      assert.deepEqual(
        decodeSse(wire, size).map((event) => event.data),
        texts,
      );
    }),
  );
});

test('lines of JSON, whole and in single bytes, the last without a line end', () => {
  for (const size of [1, 3, 100]) {
    const decoder = new LineDecoder(20);
    const lines: string[] = [];
    const text = '{"a":"é"}\r\n\n{"b":2}\n'.concat('y'.repeat(40), '\n{"c":3}');
    for (const chunk of chunksOf(Buffer.from(text), size)) decoder.push(chunk, (line) => lines.push(line));
    decoder.end((line) => lines.push(line));
    assert.ok(lines.length >= 3 && lines[0] === '{"a":"é"}' && lines.at(-1) === '{"c":3}', String(lines));
  }
});

/** A frame as in the format's specification, restated. */
function frame(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(payload);
  const out = Buffer.alloc(16 + head.length + body.length);
  out.writeUInt32BE(out.length, 0);
  out.writeUInt32BE(head.length, 4);
  out.writeUInt32BE(crc32(out.subarray(0, 8)), 8);
  head.copy(out, 12);
  body.copy(out, 12 + head.length);
  out.writeUInt32BE(crc32(out.subarray(0, out.length - 4)), out.length - 4);
  return out;
}

test("Amazon's event stream, in chunks of every size", () => {
  const wire = Buffer.concat([
    frame({ ':event-type': 'messageStart', ':content-type': 'application/json' }, '{"role":"assistant"}'),
    frame({ ':event-type': 'contentBlockDelta' }, '{"delta":{"text":"é"}}'),
  ]);
  for (const size of [1, 2, 5, 7, 1000]) {
    const decoder = new EventStreamDecoder();
    const frames: EventStreamFrame[] = [];
    for (const chunk of chunksOf(wire, size)) decoder.push(chunk, (one) => frames.push(one));
    assert.deepEqual(
      frames.map((one) => [one.headers[':event-type'], one.payload]),
      [
        ['messageStart', '{"role":"assistant"}'],
        ['contentBlockDelta', '{"delta":{"text":"é"}}'],
      ],
    );
    assert.equal(decoder.broken, false);
  }
});

test('a hostile event stream is left alone', () => {
  const huge = Buffer.alloc(12);
  huge.writeUInt32BE(0xffffffff, 0);
  const lying = frame({ a: 'b' }, 'x');
  lying.writeUInt32BE(0xffff, 4);
  for (const bytes of [huge, Buffer.alloc(12), lying]) {
    const decoder = new EventStreamDecoder();
    decoder.push(bytes, () => assert.fail('no frame is there'));
    assert.equal(decoder.broken, true);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      new EventStreamDecoder().push(bytes, (one) => assert.equal(typeof one.payload, 'string'));
    }),
  );
});

test('encodings are undone while the data arrives', () => {
  const text = 'data: hello\n\n'.repeat(400);
  const packed = {
    gzip: gzipSync(text),
    br: brotliCompressSync(text),
    deflate: deflateSync(text),
    identity: Buffer.from(text),
  };
  for (const [name, wire] of Object.entries(packed))
    for (const size of [1, 7, 10_000]) {
      const decoder = new ContentDecoder(name);
      const out = chunksOf(wire, size).map((chunk) => Buffer.from(decoder.push(chunk) ?? []));
      decoder.end();
      assert.equal(Buffer.concat(out).toString(), text, `${name} in chunks of ${size}`);
      assert.equal(decoder.broken, false);
    }
});

test('a broken or unknown encoding gives nothing and throws nothing, also later', async () => {
  for (const name of ['gzip', 'br', 'deflate', 'zip', 'gzip, br']) {
    const decoder = new ContentDecoder(name);
    assert.equal(decoder.push(Buffer.from('this is not packed at all')), undefined, name);
    assert.equal(decoder.broken, true, name);
    decoder.end();
  }
  await new Promise((resolve) => setImmediate(resolve));
});
