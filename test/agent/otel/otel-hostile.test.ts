/**
 * The span processor with spans that no real program would send: it never throws, never waits, keeps nothing large, ends
 * whatever it began, and records no secret of a span.
 */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { type InstalledAgent, installAgent } from '../../../src/agent/install.ts';
import { AgentdumpSpanProcessor, type SpanLike } from '../../../src/agent/otel/index.ts';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';
import { readAgentEventsPart } from '../../../src/analysis/agent/events.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import { createPolicy } from '../../../src/redaction/policy.ts';
import { provideAgentPort } from '../../support/agents/agent-host.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

let uninstall: (() => void) | undefined;
afterEach(() => uninstall?.());

function install(): InstalledAgent {
  const installed = installAgent({
    sink: new LateSink(() => new EventSink({ policy: createPolicy() })),
    captureLlm: 'content',
  });
  const removePort = provideAgentPort(installed.port);
  uninstall = () => {
    removePort();
    installed.uninstall();
    uninstall = undefined;
  };
  return installed;
}

/** Also opens the sink if nothing has been recorded yet. */
const renderPart = (one: InstalledAgent): string => one.renderPart() ?? assert.fail('no part');

const stateOf = (one: InstalledAgent) => computeAgentState(readAgentEventsPart(renderPart(one)));

/** What was begun and not ended. */
function openIn(one: InstalledAgent): string[] {
  const open = new Set<string>();
  const { events } = JSON.parse(renderPart(one)) as { events: Record<string, string>[] };
  for (const { kind = '', run, call, id } of events) {
    const [about, what] = kind.split('.');
    const key = `${about} ${about === 'run' ? run : about === 'model' ? call : id}`;
    if (what === 'start') open.add(key);
    else if (what === 'end') open.delete(key);
  }
  return [...open];
}

let spans = 0;
function makeSpan(fields: object): SpanLike {
  const spanId = `s${++spans}`;
  return { name: 'x', attributes: {}, spanContext: () => ({ traceId: 't', spanId }), ...fields } as SpanLike;
}

/** Begins and ends each span, the first around the second and so on. */
function pass(processor: AgentdumpSpanProcessor, ...list: SpanLike[]): void {
  for (const span of list) processor.onStart(span);
  for (const span of [...list].reverse()) processor.onEnd(span);
}

const throwing = (name: string, rest: object = {}): object =>
  Object.defineProperty({ ...rest }, name, {
    enumerable: true,
    get() {
      throw new Error('not yours');
    },
  });
const cycle: Record<string, unknown> = { role: 'user' };
cycle['parts'] = [cycle];
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const agentSpan = { name: 'invoke_agent a', attributes: { 'gen_ai.operation.name': 'invoke_agent' } };
const toolSpan = { name: 'execute_tool b', attributes: { 'gen_ai.operation.name': 'execute_tool' } };
const modelSpan = { name: 'chat c', attributes: { 'gen_ai.operation.name': 'chat' } };
const withAttributes = (span: typeof modelSpan, attributes: object) => ({
  ...span,
  attributes: { ...span.attributes, ...attributes },
});

/** Faulty spans by the name of the fault. Properties with getters are defined, not copied. */
const faults: Record<string, () => SpanLike> = {
  'no attributes': () => makeSpan({ ...toolSpan, attributes: undefined }),
  'attributes of null': () => makeSpan({ ...toolSpan, attributes: null }),
  'attributes of text': () => makeSpan({ ...toolSpan, attributes: 'password' }),
  'a revoked proxy': () => makeSpan({ ...toolSpan, attributes: revoked.proxy }),
  'an attribute that throws': () =>
    makeSpan({ name: 'chat', attributes: throwing('gen_ai.input.messages', modelSpan.attributes) }),
  'all attributes throw': () =>
    Object.defineProperty(makeSpan(toolSpan), 'attributes', throwing('attributes')),
  'a status that throws': () => throwing('status', makeSpan(agentSpan)) as SpanLike,
  'events that throw': () => throwing('events', makeSpan(toolSpan)) as SpanLike,
  'a context that throws': () =>
    makeSpan({
      spanContext() {
        throw new Error('no');
      },
    }),
  'no context': () => makeSpan({ spanContext: () => undefined }),
  'ids that are symbols': () => makeSpan({ spanContext: () => ({ traceId: Symbol('a'), spanId: {} }) }),
  'a name that is none': () => makeSpan({ ...modelSpan, name: Symbol('chat') }),
  'events of null': () => makeSpan({ ...toolSpan, events: null }),
  'events that are no list': () => makeSpan({ ...agentSpan, events: { length: 1e9 } }),
  'events of nothing': () => makeSpan({ ...toolSpan, events: [null, undefined, 7] }),
  'a status of text': () => makeSpan({ ...toolSpan, status: 'error' }),
  'a duration of text': () => makeSpan({ ...modelSpan, duration: 'long' }),
  'a duration of a number': () => makeSpan({ ...modelSpan, duration: 5 }),
  'a duration that is no number': () =>
    makeSpan({ ...modelSpan, duration: [Number.NaN, Number.POSITIVE_INFINITY] }),
  'a duration before nothing': () => makeSpan({ ...modelSpan, duration: [-1e300, 0] }),
  'messages in a circle': () => makeSpan(withAttributes(modelSpan, { 'gen_ai.input.messages': [cycle] })),
  'messages of bigints': () =>
    makeSpan(
      withAttributes(modelSpan, { 'gen_ai.output.messages': [{ role: 1n, parts: [1n, Symbol('x')] }] }),
    ),
  'messages nested 200,000 deep': () =>
    makeSpan(
      withAttributes(modelSpan, { 'gen_ai.input.messages': `${'['.repeat(200_000)}${']'.repeat(200_000)}` }),
    ),
  'a message with a million parts': () =>
    makeSpan(
      withAttributes(modelSpan, {
        'gen_ai.input.messages': `[{"role":"user","parts":[${'1,'.repeat(1_000_000)}1]}]`,
      }),
    ),
  'a role that throws': () =>
    makeSpan(
      withAttributes(modelSpan, {
        'gen_ai.input.messages': [throwing('role'), { role: revoked.proxy, parts: [] }],
      }),
    ),
  'arguments of eight million characters': () =>
    makeSpan(withAttributes(toolSpan, { 'gen_ai.tool.call.arguments': `{"a":"${'x'.repeat(8_000_000)}"}` })),
  'a name of eight million characters': () =>
    makeSpan({ ...toolSpan, name: `execute_tool ${'n'.repeat(8_000_000)}` }),
  '200,000 attributes': () =>
    makeSpan({
      name: 'chat',
      attributes: Object.fromEntries([
        ...Object.entries(modelSpan.attributes),
        ...Array.from({ length: 200_000 }, (_, i) => [`gen_ai.request.a${i}`, 'v']),
      ]),
    }),
  'proto keys': () =>
    makeSpan({
      ...modelSpan,
      attributes: JSON.parse('{"__proto__":{"x":1},"gen_ai.operation.name":"chat","constructor":"y"}'),
    }),
};

for (const [fault, make] of Object.entries(faults))
  test(`${fault}: no throw, nothing left open, the part stays small`, () => {
    const one = install();
    const processor = new AgentdumpSpanProcessor();
    const outer = makeSpan(agentSpan);
    const before = process.cpuUsage();
    const span = make();
    pass(processor, outer, Object.assign(span, { parentSpanContext: outer.spanContext() }));
    // Processor time, since the elapsed time depends on the load of the machine.
    assert.ok(process.cpuUsage(before).user < 10_000_000);
    const part = renderPart(one);
    assert.ok(part.length < 4 << 20, `${part.length} characters`);
    assert.equal(({} as { x?: number }).x, undefined);
    assert.deepEqual(openIn(one), []);
    assert.equal(stateOf(one).runs[0]?.status, 'finished');
    const took = [...part.matchAll(/"tookMs":(null|-?[\d.e+]+)/g)].map(([, ms]) =>
      Number(ms === 'null' ? -1 : ms),
    );
    assert.ok(took.every((ms) => ms >= 0 && Number.isFinite(ms)));
  });

test('what throws at its end is ended all the same', () => {
  const one = install();
  const processor = new AgentdumpSpanProcessor();
  for (const name of ['status', 'events', 'duration', 'attributes'])
    for (const span of [agentSpan, toolSpan, modelSpan].map(makeSpan)) {
      processor.onStart(span);
      processor.onEnd(Object.defineProperties(span, Object.getOwnPropertyDescriptors(throwing(name))));
    }
  assert.deepEqual(openIn(one), []);
  assert.equal(stateOf(one).runs.filter(({ name }) => name === 'a').length, 4);
});

test('parents in a circle, of itself, and 5,000 deep', () => {
  const one = install();
  const processor = new AgentdumpSpanProcessor();
  const [a, b] = [makeSpan(modelSpan), makeSpan(modelSpan)];
  const joined = [
    Object.assign(a, { parentSpanContext: b.spanContext() }),
    Object.assign(b, { parentSpanContext: a.spanContext() }),
  ];
  pass(processor, ...joined);
  const self = makeSpan(agentSpan);
  pass(processor, Object.assign(self, { parentSpanContext: self.spanContext() }));
  const chain: SpanLike[] = [];
  for (let i = 0; i < 5000; i++)
    chain.push(makeSpan({ ...(i % 2 ? {} : modelSpan), parentSpanId: chain.at(-1)?.spanContext().spanId }));
  pass(processor, ...chain);
  assert.deepEqual(openIn(one), []);
});

test('spans that never end, that end twice, and that end without a start', { skip: onlyWide }, () => {
  const one = install();
  const processor = new AgentdumpSpanProcessor();
  for (let i = 0; i < 30_000; i++) processor.onStart(makeSpan(i % 3 ? toolSpan : agentSpan));
  const late = makeSpan(toolSpan);
  for (let i = 0; i < 3; i++) processor.onEnd(late);
  assert.ok(renderPart(one).length < 64 << 20);
});

test('a conversation of megabytes in every span is not kept by the processor', { skip: onlyWide }, () => {
  install();
  const processor = new AgentdumpSpanProcessor();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 150; i++)
    pass(
      processor,
      makeSpan(
        withAttributes(modelSpan, {
          'gen_ai.input.messages': JSON.stringify([
            { role: 'user', parts: [{ type: 'text', content: `${i}${'€'.repeat(1 << 19)}` }] },
          ]),
        }),
      ),
    );
  collect();
  // 150 texts of a MiB were read; only the start, the end and a hash of each are kept.
  const kept = (process.memoryUsage().heapUsed - before) >> 20;
  assert.ok(kept < 32, `${kept} MiB`);
});

test('secrets and control characters in names, attributes, events and errors', () => {
  const one = install();
  const processor = new AgentdumpSpanProcessor();
  const secrets = ['hunter2-Zq81xx', `sk-ant-api03-${'Ab3'.repeat(31)}`, `ghp_${'x9Y'.repeat(12)}`];
  const [password, key, token] = secrets as [string, string, string];
  pass(
    processor,
    makeSpan({
      name: `invoke_agent ${token}`,
      attributes: { ...agentSpan.attributes, 'gen_ai.agent.name': `a ${key}` },
    }),
    makeSpan({
      ...withAttributes(toolSpan, {
        'gen_ai.tool.name': `t ${token}`,
        'gen_ai.tool.call.id': `password=${password}`,
        'gen_ai.tool.call.arguments': JSON.stringify({ password, url: `https://u:${password}@h/` }),
        'gen_ai.tool.call.result': `export API_KEY=${key}`,
      }),
      status: { code: 2, message: `password=${password}` },
      events: [
        {
          name: 'exception',
          attributes: { 'exception.type': `E ${token}`, 'exception.message': `\x1b[2J\u202ewith ${key}` },
        },
      ],
    }),
    makeSpan(
      withAttributes(modelSpan, {
        'gen_ai.request.model': `m ${token}`,
        'gen_ai.response.id': `r ${key}`,
        'gen_ai.request.stop_sequences': [key, token],
        'gen_ai.conversation.id': `password=${password}`,
        'server.address': `https://u:${password}@h/`,
        'gen_ai.input.messages': JSON.stringify([
          { role: `user ${token}`, parts: [{ type: 'text', content: `the password is ${password}` }] },
        ]),
        'gen_ai.output.messages': [
          { role: 'assistant', parts: [{ type: 'tool_call', arguments: { password } }] },
        ],
      }),
    ),
  );
  const part = renderPart(one);
  for (const secret of secrets) assert.ok(!part.includes(secret.slice(4, -4)), secret);
  assert.doesNotMatch(part, /[\0-\x1f]/);
  assert.ok(stateOf(one).runs[0]?.toolCalls.some(({ status }) => status === 'failed'));
});

test('spans of any shape: no throw, and a part that is read', () => {
  const value = fc.oneof(
    fc.anything({ withBigInt: true, withMap: true, withSparseArray: true, withDate: true }),
    fc.json(),
    fc.string(),
  );
  const name = fc.constantFrom(
    'gen_ai.operation.name',
    'openinference.span.kind',
    'gen_ai.input.messages',
    'gen_ai.output.messages',
    'gen_ai.system_instructions',
    'gen_ai.tool.call.arguments',
    'gen_ai.tool.call.result',
    'gen_ai.usage.input_tokens',
    'llm.input_messages.0.message.role',
    'llm.input_messages.0.message.content',
    'input.value',
    'error.type',
  );
  const kind = fc.constantFrom('chat', 'execute_tool', 'invoke_agent', 'LLM', 'TOOL', 'CHAIN', 'AGENT');
  const span = fc.record({
    attributes: fc.oneof(
      fc.dictionary(name, value),
      fc.tuple(kind, fc.dictionary(name, value)).map(([k, all]) => ({ ...all, 'gen_ai.operation.name': k })),
    ),
    name: fc.oneof(fc.constantFrom('chat x', 'ai.toolCall', 'anthropic.messages.create'), fc.string()),
    status: value,
    events: fc.oneof(fc.array(fc.record({ name: fc.constant('exception'), attributes: value })), value),
    duration: value,
    parentSpanId: fc.oneof(fc.constant(undefined), fc.constantFrom('s1', 's2', ''), value),
  });
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (list) => {
      const one = install();
      pass(new AgentdumpSpanProcessor(), ...list.map(makeSpan));
      assert.deepEqual(openIn(one), []);
      uninstall?.();
    }),
    { numRuns: fuzzRuns(150), seed: 3 },
  );
});
