/** What a Readable receives is seen, and its readers get the same as if nobody looked. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { seePushed } from '../../src/agent/taps/pushed.ts';

const stream = (): Readable => new Readable({ read() {} });
const textOf = (chunk: Uint8Array | null): string => (chunk ? Buffer.from(chunk).toString() : '(end)');

async function readAll(readable: Readable): Promise<unknown[]> {
  const got: unknown[] = [];
  for await (const chunk of readable) got.push(chunk);
  return got;
}

test('chunks and the end are seen by all who look, in order', async () => {
  const readable = stream();
  const first: string[] = [];
  const second: string[] = [];
  seePushed(readable, (chunk) => first.push(textOf(chunk)));
  seePushed(readable, (chunk) => second.push(textOf(chunk)));
  readable.push('one');
  readable.push(Buffer.from('two'));
  readable.push(null);
  assert.equal(Buffer.concat((await readAll(readable)) as Buffer[]).toString(), 'onetwo');
  assert.deepEqual(first, ['one', 'two', '(end)']);
  assert.deepEqual(second, first);
});

test('a stream with an encoding gives texts, whenever it was set', async () => {
  for (const setsFirst of [true, false]) {
    const readable = stream();
    const seen: string[] = [];
    if (setsFirst) readable.setEncoding('utf8');
    seePushed(readable, (chunk) => seen.push(textOf(chunk)));
    if (!setsFirst) readable.setEncoding('utf8');
    const euro = Buffer.from('€');
    readable.push(euro.subarray(0, 1));
    readable.push(euro.subarray(1));
    readable.push(null);
    assert.equal((await readAll(readable)).join(''), '€');
    assert.equal(seen.length, 3);
  }
});

test('a chunk that push drops leaves readers bytes, not texts', () => {
  const readable = stream();
  seePushed(readable, () => {});
  readable.push(Buffer.from('a'));
  readable.push(Buffer.from('b'));
  readable.push(Buffer.alloc(0));
  assert.deepEqual(readable.read(), Buffer.from('ab'));
});

test('readers get what was pushed when ours throws', () => {
  const readable = stream();
  seePushed(readable, () => {
    throw new Error('ours');
  });
  readable.push('x');
  assert.equal(String(readable.read()), 'x');
});

test('reading the methods has no effect, and a spy takes them', (t) => {
  const readable = stream();
  const seen: string[] = [];
  seePushed(readable, (chunk) => seen.push(textOf(chunk)));
  for (const name of ['push', 'read', '_destroy'] as const) {
    assert.equal(typeof readable[name], 'function');
    assert.equal(Object.getOwnPropertyDescriptor(readable, name)?.get, undefined);
  }
  const { decoder } = (readable as unknown as { _readableState: { decoder: unknown } })._readableState;
  assert.equal(decoder, null);
  const spy = t.mock.method(readable, 'push');
  readable.push('x');
  spy.mock.restore();
  readable.push('y');
  assert.equal(spy.mock.callCount(), 1);
  assert.deepEqual(seen, ['x', 'y']);
});
