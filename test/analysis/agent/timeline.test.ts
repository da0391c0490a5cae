/** From events to the account, with missing, torn and hostile events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  mergeAgentEvents,
  readAgentEventsPart,
  readAgentRecords,
} from '../../../src/analysis/agent/events.ts';
import { cutAgentEvents } from '../../../src/analysis/agent/point.ts';
import { readAgentState } from '../../../src/analysis/agent/read.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { plainPalette } from '../../../src/report/palette.ts';
import { renderAgent } from '../../../src/report/text/agent.ts';
import { renderAgentTimeline } from '../../../src/report/text/agent-timeline.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

/** A session as the journal contains it. The layout is restated here, not imported. */
const at = 1_700_000_000_000;
const text = (content: string) => [{ type: 'text', content }];
const session: Record<string, unknown>[] = [
  { kind: 'run.start', run: 'r1', source: 'api', name: 'travel' },
  { kind: 'step.start', id: 's1', run: 'r1', source: 'api', name: 'plan' },
  { kind: 'message', message: 'm1', role: 'user', parts: text('book a flight') },
  {
    kind: 'model.start',
    call: 'c1',
    run: 'r1',
    step: 's1',
    source: 'undici',
    bytes: 10,
    conversation: { keep: 0, add: ['m1'] },
    attributes: { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt' },
  },
  { kind: 'model.headers', call: 'c1', afterMs: 5, attributes: { 'http.response.status_code': 200 } },
  {
    kind: 'message',
    message: 'm2',
    role: 'assistant',
    parts: [{ type: 'tool_call', id: 'call_1', name: 'search', arguments: { to: 'Rome' } }],
  },
  {
    kind: 'model.end',
    call: 'c1',
    status: 'finished',
    tookMs: 9,
    bytes: 20,
    frames: 0,
    output: ['m2'],
    attributes: { 'gen_ai.usage.input_tokens': 7, 'gen_ai.usage.output_tokens': 3 },
  },
  { kind: 'step.end', id: 's1', status: 'finished', tookMs: 12 },
  {
    kind: 'message',
    message: 'm3',
    role: 'tool',
    parts: [{ type: 'tool_call_response', id: 'call_1', response: '3 flights' }],
  },
  {
    kind: 'model.start',
    call: 'c2',
    run: 'r1',
    source: 'undici',
    bytes: 10,
    conversation: { base: 'c1', keep: 2, add: ['m3'] },
    attributes: { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt' },
  },
  { kind: 'state', run: 'r1', operations: [{ op: 'add', path: '/seat', value: '12A' }] },
  { kind: 'model.delta', call: 'c2', bytes: 30, frames: 2, text: 'I found ' },
  { kind: 'model.delta', call: 'c2', bytes: 60, frames: 4, text: 'three fl' },
].map((event, i) => ({ seq: i + 1, at: at + i * 1000, ...event }));

const read = (values: unknown[]) => readAgentRecords(values, at + 20_000);

test('a session that was cut in a reply', () => {
  const [run] = computeAgentState(read(session)).runs;
  assert.deepEqual(
    [run?.name, run?.status, run?.usage, run?.state],
    ['travel', 'running', { inputTokens: 7, outputTokens: 3 }, { seat: '12A' }],
  );
  assert.deepEqual(
    run?.messages.map(({ role, content }) => [role, typeof content === 'string' ? content : 'parts']),
    [
      ['user', 'book a flight'],
      ['assistant', 'parts'],
      ['tool', 'parts'],
    ],
  );
  assert.deepEqual(run?.toolCalls, [
    {
      id: 'call_1',
      name: 'search',
      status: 'finished',
      arguments: { to: 'Rome' },
      requestedBy: 'c1',
      stepId: 's1',
      startedAt: new Date(at + 6000).toISOString(),
      durationMs: 3000,
      result: '3 flights',
    },
  ]);
  const [first, second] = run?.modelCalls ?? [];
  assert.deepEqual(
    [first?.status, first?.inputTokens, first?.httpStatus, first?.stepId],
    ['finished', 7, 200, 's1'],
  );
  assert.deepEqual(
    [second?.status, second?.partialText, second?.ageMs, second?.lastByteAgeMs, second?.frames],
    ['streaming', 'I found three fl', 11_000, 8000, 4],
  );
  assert.deepEqual(run?.pending, [
    'model call to openai gpt for at least 11 s, 4 frames and 60 bytes so far, the last at least 8 s ago',
  ]);
});

test('the conversation is read at any earlier point', () => {
  const stateAt = (point: string) => computeAgentState(cutAgentEvents(read(session), point)).runs[0];
  assert.equal(stateAt('3')?.modelCalls.length, 0);
  assert.equal(stateAt('c1')?.toolCalls[0]?.status, 'requested');
  assert.equal(stateAt('s1')?.steps[0]?.status, 'finished');
  assert.equal(stateAt(new Date(at + 11_500).toISOString())?.modelCalls[1]?.partialText, 'I found ');
  assert.equal(stateAt('-15s')?.modelCalls[0]?.status, 'answered');
  for (const [point, code] of [
    ['yesterday?', 'usage'],
    ['c99', 'not-found'],
  ])
    assert.throws(
      () => stateAt(point ?? ''),
      (error) => error instanceof AgentdumpError && error.code === code,
    );
});

test('any prefix, any event missing: an account all the same', () => {
  for (let i = 0; i <= session.length; i++) {
    computeAgentState(read(session.slice(0, i)));
    const state = computeAgentState(read(session.toSpliced(i, 1)));
    assert.equal(state.runs.length, 1);
    assert.ok(renderAgentTimeline(state).length > 20);
  }
  const orphan = computeAgentState(read(session.slice(9)));
  assert.equal(orphan.runs[0]?.unknownMessages, 2);
  assert.deepEqual(orphan.events, { read: 4, evicted: 9, unreadable: 0 });
});

test('events that are no events are counted and left out', () => {
  const hostile: unknown[] = [
    null,
    1,
    'x',
    [],
    {},
    { seq: 1, at: 1, kind: 'unknown' },
    { seq: 1, at: 1, kind: 'toString' },
    { seq: 1, at: 1, kind: 'model.end', call: 'c1', status: 'x', attributes: null },
    { seq: 1, at: 1, kind: 'message', message: 'm', role: 'user', parts: 'x' },
    { seq: '1', at: 1, kind: 'note' },
  ];
  assert.equal(read(hostile).unreadable, hostile.length);
  const loop = {
    seq: 1,
    at,
    kind: 'model.start',
    call: 'c1',
    attributes: {},
    conversation: { base: 'c1', keep: 9, add: [1, 'm'] },
  };
  computeAgentState(read([loop, { ...loop, seq: 2 }]));
});

test('no sequence of events breaks the account', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const event = fc.record({
    at: fc.integer({ min: 0, max: 1e6 }),
    kind: fc.constantFrom(
      ...new Set(session.map((one) => one['kind'])),
      'tool.start',
      'tool.end',
      'wait.start',
      'run.end',
      'lock.held',
      'note',
    ),
    id,
    run: id,
    call: id,
    step: id,
    message: id,
    wait: id,
    lock: id,
    name: id,
    role: id,
    what: id,
    waitsFor: id,
    status: fc.constantFrom('finished', 'failed', 'x'),
    callId: id,
    bytes: fc.nat(5),
    frames: fc.nat(5),
    text: fc.string(),
    attributes: fc.constant({}),
    output: fc.array(id),
    parts: fc.array(
      fc.constantFrom(
        { type: 'tool_call', id: 'a', name: 'b' },
        { type: 'tool_call_response', id: 'a' },
        null,
      ),
    ),
    operations: fc.array(
      fc.record({ op: fc.constantFrom('add', 'remove', 'bad'), path: fc.constantFrom('/a', '/a/b', 'x') }),
    ),
    conversation: fc.record({ base: id, keep: fc.integer({ min: -2, max: 9 }), add: fc.array(id) }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const state = computeAgentState(read(events.map((one, i) => ({ seq: i + 1, ...one }))));
      JSON.stringify(state);
      renderAgentTimeline(state);
      return true;
    }),
    { numRuns: fuzzRuns(300) },
  );
});

test('a thousand calls over one history are read in linear time and space', () => {
  const events: Record<string, unknown>[] = [];
  const add = (event: Record<string, unknown>) =>
    events.push({ seq: events.length + 1, at: at + events.length, ...event });
  for (let i = 0; i < 3000; i++) {
    add({ kind: 'message', message: `q${i}`, role: 'user', parts: text(`question ${i}`) });
    const conversation = i ? { base: `c${i - 1}`, keep: 2 * i, add: [`q${i}`] } : { keep: 0, add: ['q0'] };
    add({ kind: 'model.start', call: `c${i}`, source: 'undici', bytes: 1, conversation, attributes: {} });
    add({ kind: 'message', message: `a${i}`, role: 'assistant', parts: text(`answer ${i}`) });
    add({
      kind: 'model.end',
      call: `c${i}`,
      status: 'finished',
      tookMs: 1,
      bytes: 1,
      frames: 0,
      output: [`a${i}`],
      attributes: {},
    });
  }
  const [run] = computeAgentState(read(events)).runs;
  assert.equal(run?.messages.length, 6000);
  assert.equal(run?.messages.at(-1)?.content, 'answer 2999');
  assert.ok(JSON.stringify(run).length < 4_000_000);
});

test('a part that is none is a gap, and journal and part are joined', () => {
  const source = (files: Record<string, string>) => ({
    readPart: (name: string) => (files[name] === undefined ? undefined : Buffer.from(files[name])),
  });
  const part = (events: unknown[]) =>
    JSON.stringify({ schema: 'agentdump.agent-events/1', at: at + 20_000, evicted: 0, events });
  for (const broken of ['', '{', '[]', 'null', '{"schema":"x","events":[]}']) {
    const { state, gaps } = readAgentState(source({ 'agent-events.json': broken }));
    assert.deepEqual([state, gaps.length], [undefined, 1]);
  }
  assert.deepEqual(readAgentState(source({})), { gaps: [] });
  assert.equal(readAgentState(source({ 'agent-events.json': part(session) })).state?.runs[0]?.name, 'travel');
  const merged = mergeAgentEvents(read(session.slice(0, 8)), readAgentEventsPart(part(session.slice(5))));
  assert.deepEqual([merged.events.length, merged.evicted], [session.length, 0]);
});

test('the text tells the story, and hostile texts are escaped', () => {
  const shown = renderAgentTimeline(computeAgentState(read(session)), { columns: 100 });
  assert.match(shown, /^travel running {2}r1, 7 tokens in, 3 out, price unknown$/m);
  assert.match(shown, /-17 s {8}c1 {2}model openai gpt {2}finished after 9 ms, 7 → 3 tokens$/m);
  assert.match(
    shown,
    /-11 s {2}open {2}c2 {2}model openai gpt {2}reply not complete after 11 s "I found three fl"$/m,
  );
  assert.match(shown, /not ended {2}model call to openai gpt/);
  assert.match(shown, /tool {2}result: 3 flights$/m);
  assert.match(shown, /assistant {2}I found three fl † cut here/);
  const nasty = session.map((event) =>
    JSON.parse(JSON.stringify(event).replaceAll('travel', '\\u001b[31mred\\u0007')),
  );
  assert.ok(!renderAgentTimeline(computeAgentState(read(nasty))).includes('\u001b'));
});

test('the plan is shown, and how a call ended whatever its arguments', () => {
  const state = computeAgentState(
    read([
      { seq: 1, at, kind: 'run.start', run: 'r1', name: 'travel' },
      { seq: 2, at, kind: 'plan', run: 'r1', plan: ['search', 'book'] },
      {
        seq: 3,
        at,
        kind: 'tool.start',
        id: 't1',
        run: 'r1',
        name: 'search',
        arguments: { text: 'x'.repeat(300) },
      },
      {
        seq: 4,
        at: at + 5,
        kind: 'tool.end',
        id: 't1',
        run: 'r1',
        status: 'finished',
        tookMs: 5,
        result: 'none',
      },
    ]),
  );
  const shown = renderAgentTimeline(state, { columns: 100 });
  assert.match(shown, /t1 {2}tool {2}search\(\{"text":"x+…\) {2}returned after 5 ms → none$/m);
  assert.match(shown, /^Plan\n {2}search, book$/m);
  const page = renderAgent(
    { schema: 'agentdump.analysis/1', gaps: [], agent: state },
    { palette: plainPalette, columns: 100 },
  );
  assert.match(page.join('\n'), /^ {2}plan:\n {4}search, book$/m);
});
