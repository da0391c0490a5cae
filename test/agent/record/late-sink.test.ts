import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';

const policy = { text: (text: string) => text, value: (value: unknown) => value };

/** `written`: what a reader of the journal would find, and whether each entry was flushed. */
function makeLate() {
  const written: { seq: number; at: number; kind: string; id: string; isFlushed: boolean }[] = [];
  let opened = 0;
  const add = (payload: string, isFlushed: boolean) => written.push({ ...JSON.parse(payload), isFlushed });
  const sink = new LateSink(() => {
    opened++;
    const append = (_kind: number, payload: string) => add(payload, true);
    return new EventSink({
      policy,
      journal: { append, appendBuffered: (_kind, payload) => add(payload, false), flush() {} },
    });
  });
  return { sink, written, kinds: () => written.map(({ kind }) => kind), opened: () => opened };
}

const sendRequest = (sink: LateSink) => {
  sink.record('message', { message: 'm1', role: 'user' }, { parts: [] }, 'ahead');
  sink.record('model.start', { call: 'c1' }, { attributes: {} }, 'soon');
};

const until = async (isSo: () => boolean): Promise<void> => {
  for (const end = Date.now() + 30_000; !isSo(); await delay(1)) assert.ok(Date.now() < end, 'it never came');
};

test('what has been sent waits until the loop has turned, and is written in its order, with its own time', async () => {
  const { sink, written, kinds, opened } = makeLate();
  const before = Date.now();
  sendRequest(sink);
  const after = Date.now();
  assert.equal(opened(), 0);
  await until(() => opened() > 0);
  assert.equal(opened(), 1);
  assert.deepEqual(kinds(), ['message', 'model.start']);
  assert.deepEqual(
    written.map(({ seq, isFlushed }) => [seq, isFlushed]),
    [
      [1, false],
      [2, true],
    ],
  );
  for (const { at } of written) assert.ok(at >= before && at <= after);
});

test('anything else opens the sink in the same tick, and what waited comes before it', () => {
  const { sink, kinds } = makeLate();
  sendRequest(sink);
  sink.record('tool.start', { id: 't1' }, { name: 'rm' });
  assert.deepEqual(kinds(), ['message', 'model.start', 'tool.start']);
  sink.record('model.start', { call: 'c2' }, { attributes: {} }, 'soon');
  assert.equal(kinds().length, 4, 'once it is open nothing waits');
});

test('a death opens it too, and so does more than it would keep waiting', () => {
  const dying = makeLate();
  sendRequest(dying.sink);
  assert.equal(JSON.parse(dying.sink.opened()?.renderPart() ?? '').events.length, 2);
  const flooded = makeLate();
  for (let n = 0; n < 1001; n++)
    flooded.sink.record('message', { message: `m${n}`, role: 'user' }, { parts: [] }, 'ahead');
  assert.equal(flooded.kinds().length, 1001);
});

test('where nothing can be recorded, that is asked once', async () => {
  let asked = 0;
  const sink = new LateSink(() => {
    asked++;
    return undefined;
  });
  sendRequest(sink);
  sink.record('tool.start', { id: 't1' }, { name: 'rm' });
  sendRequest(sink);
  assert.equal(sink.opened(), undefined);
  assert.equal(sink.cleanText('a secret'), '');
  assert.equal(asked, 1);
});
