import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest, RequestItem } from '../../../src/agent/calls/model-call.ts';
import { Conversation } from '../../../src/agent/record/conversation.ts';
import type { ConversationDelta, Message } from '../../../src/journal/layout/agent.ts';

const say = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] });
const request = (messages: RequestItem[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  operation: 'chat',
  messages,
  attributes: {},
  ...more,
});

/** Replays deltas as a reader would. */
class Replayed {
  readonly recorded: Message[] = [];
  readonly lists = new Map<string, string[]>();
  readonly conversation = new Conversation({
    message: (message) => `m${this.recorded.push(message)}`,
    tools: () => 'd1',
  });

  begin(call: string, of: ModelRequest): ConversationDelta {
    const delta = this.conversation.begin(call, of);
    const base = delta.base === undefined ? [] : (this.lists.get(delta.base) ?? []).slice(0, delta.keep);
    this.lists.set(call, [...base, ...delta.add]);
    return delta;
  }

  end(call: string, id: string, messages: Message[], itemIds: string[] = []): void {
    const output = this.conversation.end(
      call,
      id,
      messages.map((message, i) => ({ message, id: itemIds[i] })),
    );
    this.lists.get(call)?.push(...output);
  }

  texts(call: string): string[] {
    return (this.lists.get(call) ?? []).map((id) => {
      const part = this.recorded[Number(id.slice(1)) - 1]?.parts[0];
      return part && 'content' in part ? part.content : '?';
    });
  }
}

test('a history that each request repeats is recorded once', () => {
  const replayed = new Replayed();
  const history: Message[] = [say('system', 'be kind')];
  for (let turn = 0; turn < 50; turn++) {
    history.push(say('user', `question ${turn}`));
    const delta = replayed.begin(`c${turn}`, request(structuredClone(history)));
    if (turn > 0)
      assert.deepEqual([delta.base, delta.keep, delta.add.length], [`c${turn - 1}`, 2 * turn + 1, 1]);
    const answer = say('assistant', `answer ${turn}`);
    replayed.end(`c${turn}`, `r${turn}`, [answer]);
    history.push(answer);
  }
  assert.equal(replayed.recorded.length, 101);
  assert.equal(replayed.texts('c49').at(-1), 'answer 49');
  assert.equal(replayed.texts('c49').length, 101);
});

test('a branch keeps what it shares and both ends stay', () => {
  const replayed = new Replayed();
  const start = [say('user', 'a'), say('assistant', 'b'), say('user', 'c')];
  replayed.begin('c1', request(start));
  replayed.end('c1', 'r1', [say('assistant', 'd')]);
  const delta = replayed.begin('c2', request([...start.slice(0, 2), say('user', 'other')]));
  assert.deepEqual([delta.base, delta.keep], ['c1', 2]);
  assert.deepEqual(replayed.texts('c1'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(replayed.texts('c2'), ['a', 'b', 'other']);
});

test('threads that the server holds are joined to the reply they name', () => {
  const replayed = new Replayed();
  replayed.begin('c1', request([say('user', 'a')]));
  replayed.end('c1', 'resp_1', [say('assistant', 'b')], ['item_1']);
  replayed.begin('c2', request([{ reference: 'item_1' }, say('user', 'a')], { previousReply: 'resp_1' }));
  assert.deepEqual(replayed.texts('c2'), ['a', 'b', 'a']);
  replayed.end('c2', 'resp_2', [say('assistant', 'c')]);
  replayed.begin('c3', request([say('user', 'fork')], { previousReply: 'resp_1' }));
  assert.deepEqual(replayed.texts('c3'), ['a', 'b', 'fork']);
  const unknown = replayed.begin('c4', request([say('user', 'x')], { previousReply: 'resp_before' }));
  assert.deepEqual([unknown.unknownBase, unknown.base], ['resp_before', undefined]);
});

test('a conversation object grows by input and reply', () => {
  const replayed = new Replayed();
  for (const turn of [1, 2, 3]) {
    replayed.begin(`c${turn}`, request([say('user', `q${turn}`)], { serverConversation: 'conv' }));
    replayed.end(`c${turn}`, `r${turn}`, [say('assistant', `a${turn}`)]);
  }
  assert.deepEqual(replayed.texts('c3'), ['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
});

test('item references without a thread are resolved', () => {
  const replayed = new Replayed();
  replayed.begin('c1', request([say('user', 'a')]));
  replayed.end('c1', 'r1', [say('assistant', 'b')], ['item_1']);
  replayed.begin('c2', request([say('user', 'a'), { reference: 'item_1' }, say('user', 'c')]));
  assert.deepEqual(replayed.texts('c2'), ['a', 'b', 'c']);
});

test('bounded: after many calls old ones are forgotten, and lists stay right', () => {
  const replayed = new Replayed();
  for (let i = 0; i < 1000; i++) {
    replayed.begin(`c${i}`, request([say('user', `q${i % 700}`), say('user', `only ${i}`)]));
    replayed.end(`c${i}`, `r${i}`, [say('assistant', `a${i}`)]);
    assert.deepEqual(replayed.texts(`c${i}`), [`q${i % 700}`, `only ${i}`, `a${i}`]);
  }
});
