/** Content that was stored before is found again, and every description gives back its bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import '../support/run/fuzz-runs.ts';
import { Content } from '../../src/langgraph/content.ts';
import { HeadReader, HeadWriter, Texts } from '../../src/langgraph/head-bytes.ts';
import { SeededRandom } from '../support/synth/seeded-random.ts';

test('bytes that are there already add nothing', () => {
  const content = new Content();
  const text = Buffer.from(new SeededRandom(1).text(5000, 'abcdefghij'));
  content.describe(text);
  const length = content.length;
  const spans = content.describe(Buffer.concat([Buffer.from('before '), text, Buffer.from(' after')]));
  assert.equal(content.length - length, 'before  after'.length);
  assert.equal(Buffer.from(content.read(spans)).toString(), `before ${text} after`);
});

test('spans give back the bytes, whatever was described before', () => {
  const piece = fc.constantFrom(
    'x'.repeat(70),
    'the quick brown fox jumps over the lazy dog ',
    '{"role":"user"}',
    'é€',
  );
  const text = fc
    .array(fc.oneof(piece, fc.string({ maxLength: 60 })), { maxLength: 12 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
      const content = new Content();
      const all = texts.map((each) => content.describe(Buffer.from(each)));
      assert.deepEqual(
        all.map((spans) => Buffer.from(content.read(spans)).toString()),
        texts.map((each) => Buffer.from(each).toString()),
      );
      assert.ok(all.every((spans) => content.holds(spans)));
      assert.ok(content.length <= texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0));
    }),
  );
});

test('integers and texts come back; cut bytes are a clear error', () => {
  const int = fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER));
  fc.assert(
    fc.property(fc.array(fc.oneof(int, fc.string({ unit: 'binary' }))), fc.nat(), (fields, cut) => {
      const writer = new HeadWriter(new Texts());
      for (const field of fields) typeof field === 'number' ? writer.int(field) : writer.text(field);
      const bytes = writer.finish(new Uint8Array(0));
      const read = (payload: Uint8Array) => {
        const reader = new HeadReader(new Texts(), payload);
        return fields.map((field) => (typeof field === 'number' ? reader.int('a') : reader.text('b')));
      };
      assert.deepEqual(read(bytes), fields);
      if (cut < bytes.length) assert.throws(() => read(bytes.subarray(0, cut)), { code: 'malformed-input' });
    }),
  );
});
