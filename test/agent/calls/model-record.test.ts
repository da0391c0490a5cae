/** What remains in memory of a model call after its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ModelCallRecord } from '../../../src/agent/calls/model-record.ts';
import { ReplyBuilder } from '../../../src/agent/calls/reply.ts';
import { AgentRecorder } from '../../../src/agent/record/recorder.ts';
import type { AgentSink } from '../../../src/agent/record/sink.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const sink = { record() {} } as unknown as AgentSink;

/** A whole call, whose reply is afterwards referenced by the recorder only. */
function call(recorder: AgentRecorder, role = 'assistant'): WeakRef<ReplyBuilder> {
  const reply = new ReplyBuilder();
  const record = new ModelCallRecord(recorder, { attributes: {} }, undefined, reply);
  reply.id = 'reply-1';
  reply.message('0', role);
  reply.text('0', '0', 'x'.repeat(1000));
  record.ended({
    status: 'finished',
    bytes: 0,
    frames: 0,
    gap: undefined,
    httpStatus: 200,
  });
  return new WeakRef(reply);
}

test('the reply is let go of, and a tracer’s span still finds the call by the reply’s id', async () => {
  const recorder = new AgentRecorder(sink, { model: 'content', http: 'metadata' }, 0);
  const reply = call(recorder);
  await new Promise((resolve) => setTimeout(resolve, 20));
  collectGarbage();
  assert.equal(reply.deref(), undefined);
  const span = { covers: () => false, model: undefined, since: 0 };
  assert.equal(recorder.tapped.claim({ ...span, responseId: 'reply-2' }), false);
  assert.equal(recorder.tapped.claim({ ...span, responseId: 'reply-1' }), true);
  assert.equal(recorder.tapped.claim({ ...span, responseId: 'reply-1' }), false);
});

test('a role that is no word is not kept: nobody cleans it', () => {
  const roles: unknown[] = [];
  const noting = {
    record(kind: string, facts: { role?: unknown }) {
      if (kind === 'message') roles.push(facts.role);
    },
  } as unknown as AgentSink;
  for (const role of ['assistant', 'my password is hunter22'])
    call(new AgentRecorder(noting, { model: 'content', http: 'metadata' }, 0), role);
  assert.deepEqual(roles, ['assistant', 'unknown']);
});

test('what is written at the death has the time of the last byte, not that of the writing', async () => {
  const deltas: { bytes: number; lastByteAt?: number }[] = [];
  const noting = {
    flush() {},
    cleanText: (text: string) => text,
    record(kind: string, facts: { bytes: number }) {
      if (kind === 'model.delta') deltas.push(facts);
    },
  } as unknown as AgentSink;
  const recorder = new AgentRecorder(noting, { model: 'content', http: 'metadata' }, 0);
  const reply = new ReplyBuilder();
  const record = new ModelCallRecord(recorder, { attributes: {} }, undefined, reply);
  reply.text('0', '0', 'a run without an end');
  record.answered({}, { bytes: 10, frames: 1, drain() {} });
  record.progressed();
  const last = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 120));
  record.flush();
  assert.equal(deltas.at(-1)?.bytes, 10);
  assert.ok((deltas.at(-1)?.lastByteAt ?? Number.POSITIVE_INFINITY) <= last);
});
