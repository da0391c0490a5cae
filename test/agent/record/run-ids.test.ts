/** Whose work it is: which ids are taken from frameworks, spans and requests, and which of a journal's are trusted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIds, readRequestIds } from '../../../src/agent/record/run-ids.ts';
import { readAgentRecords } from '../../../src/analysis/agent/events.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import { plainPalette } from '../../../src/report/palette.ts';
import { renderAgent } from '../../../src/report/text/agent.ts';

test('one name for each, from the first that has it', () => {
  assert.deepEqual(readIds({ threadId: 't1', sessionId: 7 }, { user_id: 'u1', thread_id: 't2' }), {
    thread_id: 't1',
    session_id: '7',
    user_id: 'u1',
  });
  assert.deepEqual(readIds({ 'gen_ai.conversation.id': 'c1', 'enduser.id': 'u1' }), {
    conversation_id: 'c1',
    user_id: 'u1',
  });
});

test('what is no id is left out', () => {
  const hostile = {
    get user_id() {
      throw new Error('not yours');
    },
    thread_id: 'x'.repeat(300),
    session_id: { deep: true },
    conversation_id: '',
  };
  assert.equal(readIds(hostile, undefined, 'text', 7, ['a'], null), undefined);
});

test('requests: OpenAI’s user and conversation, the metadata of both', () => {
  assert.deepEqual(readRequestIds({ user: 'u1', conversation: { id: 'conv_1' } }), {
    conversation_id: 'conv_1',
    user_id: 'u1',
  });
  assert.deepEqual(readRequestIds({ conversation: 'conv_2', safety_identifier: 'u2' }), {
    conversation_id: 'conv_2',
    user_id: 'u2',
  });
  assert.deepEqual(readRequestIds({ metadata: { user_id: 'u3' } }), { user_id: 'u3' });
  assert.equal(readRequestIds({ messages: [], metadata: 'none' }), undefined);
});

const stateOf = (events: object[]) => {
  const read = readAgentRecords(
    events.map((event, seq) => ({ seq, at: 1000 + seq, ...event })),
    2000,
  );
  assert.ok(read);
  return computeAgentState(read);
};
const call = (id: string, ids: unknown, run?: string) => ({
  kind: 'model.start',
  call: id,
  source: 'undici',
  bytes: 1,
  conversation: { keep: 0, add: [] },
  attributes: {},
  ids,
  ...(run && { run }),
});

test('a run says it itself, else its requests where they agree', () => {
  const { runs } = stateOf([
    { kind: 'run.start', run: 'r1', source: 'langchain', name: 'graph', ids: { thread_id: 't1' } },
    call('c1', { user_id: 'u1', thread_id: 'of a request' }, 'r1'),
    call('c2', { user_id: 'u1' }, 'r1'),
    call('c3', { user_id: 'u1', session_id: 's' }),
    call('c4', { user_id: 'u2', session_id: 's' }),
    call('c5', undefined),
  ]);
  assert.deepEqual(
    runs.map(({ id, ids }) => [id, ids]),
    [
      ['r1', { user_id: 'u1', thread_id: 't1' }],
      ['implicit', { session_id: 's' }],
    ],
  );
  const page = { palette: plainPalette, columns: 80 };
  assert.match(
    renderAgent({ schema: 'x', gaps: [], agent: { runs } } as never, page as never).join('\n'),
    / {2}user_id u1, thread_id t1/,
  );
});

test('ids of another shape are none', () => {
  for (const ids of [7, 'x', [], null, { user_id: { a: 1 } }, { user_id: 7 }]) {
    const { runs } = stateOf([
      { kind: 'run.start', run: 'r1', source: 'x', name: 'n', ids },
      call('c1', ids),
    ]);
    assert.ok(
      runs.every((run) => run.ids === undefined),
      JSON.stringify(runs),
    );
  }
});
