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

test('a listener of data has nothing of ours on its stack, and keeps it when ours throws', () => {
  const readable = stream();
  seePushed(readable, () => {
    throw new Error('ours');
  });
  let stack = '';
  readable.on('data', () => {
    stack = new Error('here').stack ?? '';
  });
  readable.resume();
  readable.push('x');
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      assert.match(stack, /here/);
      assert.doesNotMatch(stack, /taps/);
      resolve();
    });
  });
});
