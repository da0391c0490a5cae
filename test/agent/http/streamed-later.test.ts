/**
 * Streamed replies are read and written some time after they arrived: nothing of them may be lost or changed by the delay.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaClock } from '../../../src/agent/calls/delta-clock.ts';
import { ReplyBuilder } from '../../../src/agent/calls/reply.ts';
import { ReplyReader } from '../../../src/agent/http/reply-reader.ts';
import { openaiChat } from '../../../src/agent/providers/openai-chat.ts';

const wordsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `wörd-${i} `);

function streamOf(words: string[]): Buffer {
  const events = words.map((content) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] }));
  return Buffer.from(`data: ${[...events, '[DONE]'].join('\n\ndata: ')}\n\n`);
}

function textOf(reply: ReplyBuilder): string {
  return reply
    .messages()
    .flatMap(({ message }) => message.parts)
    .map((part) => (part.type === 'text' ? part.content : ''))
    .join('');
}

test('a reply is the same in pieces of every size, although the program uses its bytes again', () => {
  const words = wordsOf(900);
  const whole = streamOf(words);
  const json = Buffer.from(
    JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: words.join('') } }] }),
  );
  for (const size of [1, 7, 100, 4096, 4097, 20_000, whole.length])
    for (const [wire, type] of [
      [whole, 'text/event-stream'],
      [json, 'application/json'],
    ] as const) {
      const reply = new ReplyBuilder();
      const reader = new ReplyReader(openaiChat, reply, type, undefined);
      for (let at = 0; at < wire.length; at += size) {
        const chunk = Buffer.from(wire.subarray(at, at + size));
        reader.push(chunk);
        chunk.fill(0);
      }
      assert.equal(reader.bytes, wire.length);
      reader.end();
      assert.equal(textOf(reply), words.join(''), `${type} in pieces of ${size}`);
      assert.equal(reply.done, true);
    }
});

test('a token is not read when it comes, and is there when it is asked for', () => {
  const reply = new ReplyBuilder();
  const reader = new ReplyReader(openaiChat, reply, 'text/event-stream', undefined);
  reader.push(streamOf(wordsOf(1)).subarray(0, -'data: [DONE]\n\n'.length));
  assert.equal(reader.frames, 0);
  reader.drain();
  assert.equal(reader.frames, 1);
  assert.equal(textOf(reply), 'wörd-0 ');
});

test('replies that stream beside and after each other share buffers, and nothing of their text', () => {
  const begin = (name: string) => {
    const words = Array.from({ length: 300 }, (_, i) => `${name}-${i} `);
    const reply = new ReplyBuilder();
    const reader = new ReplyReader(openaiChat, reply, 'text/event-stream', undefined);
    return { reader, reply, text: words.join(''), wire: streamOf(words), at: 0 };
  };
  const names = Array.from({ length: 20 }, (_, i) => `reply${i}`);
  const open = names.splice(0, 7).map(begin);
  for (let turn = 0; open.length > 0; turn++) {
    const one = open[turn % open.length] as (typeof open)[number];
    const { at } = one;
    one.at += 900 + (turn % 50);
    one.reader.push(one.wire.subarray(at, one.at));
    if (one.at < one.wire.length) continue;
    one.reader.end();
    assert.equal(textOf(one.reply), one.text);
    open.splice(open.indexOf(one), 1, ...names.splice(0, 1).map(begin));
  }
});

test('all that stream are written at one moment, with one flush, and one that has ended is not', async () => {
  const said: string[] = [];
  const flushed = new Promise<void>((resolve) => {
    const clock = new DeltaClock(() => {
      said.push('flush');
      resolve();
    });
    const streaming = (name: string) => ({ writeDelta: () => said.push(name) });
    const [a, b, ended] = [streaming('a'), streaming('b'), streaming('ended')];
    for (const one of [a, b, ended, a, b]) clock.add(one);
    clock.delete(ended);
  });
  const held = setTimeout(() => {}, 60_000);
  await flushed;
  clearTimeout(held);
  assert.deepEqual(said, ['a', 'b', 'flush']);
});
