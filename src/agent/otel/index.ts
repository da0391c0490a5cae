/**
 * `agentdump/otel`: a span processor that reports what an OpenTelemetry tracer sees of an agent to the flight recorder: runs,
 * steps and tool calls when they begin and end, and model calls that no tap saw (an in-process model, a custom transport).
 * Add it to the span processors of a tracer provider. Without the preload it does nothing. It exports no spans.
 */
import type { Message } from '../../journal/layout/agent.ts';
import { currentPlace, findPort } from '../api/api-scope.ts';
import type { AgentPort, FrameworkPort } from '../api/port.ts';
import { hashOf } from '../node-modules.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import { readIds } from '../record/run-ids.ts';
import type { AgentScope } from '../record/scope.ts';
import {
  attempt,
  errorOfSpan,
  keyOf,
  parentKeyOf,
  type SpanLike,
  type SpanProcessorLike,
  tookMsOf,
} from './span.ts';
import { findMeaning, resultOf, type SpanMeaning } from './span-meaning.ts';
import { modelOf, readModelCall, responseIdOf, type SpanModelCall } from './span-model-call.ts';

export type { SpanLike, SpanProcessorLike } from './span.ts';

const openLimit = 10_000;
const knownMessages = 2000;
const deepestSpans = 100;
const mostParts = 1000;

/** Recorded for a span whose attributes could not be read: only that there was a call. */
const unreadable: SpanModelCall = { input: [], output: [], attributes: {} };

interface Open {
  /** What the span was recorded as; absent for spans about something else. */
  kind?: 'run' | 'step' | 'tool';
  /** For a model's span: the number of calls that the taps had seen when it began. */
  since?: number;
}

export class AgentdumpSpanProcessor implements SpanProcessorLike {
  readonly #open = new BoundedMap<Open>(openLimit);
  /** Parents of spans, including spans that have ended: a request may be nested deep inside of a model's span. */
  readonly #parents = new BoundedMap<string>(openLimit);
  readonly #messageIds = new BoundedMap<string>(knownMessages);
  #port: AgentPort | undefined;
  #framework: FrameworkPort | undefined;

  onStart(span: SpanLike): void {
    this.#safely((framework, port) => this.#start(span, framework, port));
  }

  onEnd(span: SpanLike): void {
    this.#safely((framework, port) => this.#end(span, framework, port));
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}

  /** Keeps failures in here from the tracer. */
  #safely(work: (framework: FrameworkPort, port: AgentPort) => void): void {
    try {
      const port = findPort();
      if (port !== this.#port) {
        this.#port = port;
        this.#framework = port?.framework?.('opentelemetry');
      }
      if (port && this.#framework) work(this.#framework, port);
    } catch {
      // A span of an unexpected shape is not recorded.
    }
  }

  #start(span: SpanLike, framework: FrameworkPort, port: AgentPort): void {
    const key = keyOf(span);
    const parent = parentKeyOf(span);
    if (parent !== undefined) this.#parents.set(key, parent);
    const around = this.#around(span, framework);
    const meaning = findMeaning(span);
    if (!meaning || meaning.kind === 'model') {
      framework.alias(key, around);
      this.#open.set(key, meaning ? { since: port.tapped?.count ?? 0 } : {});
    } else this.#open.set(key, { kind: begin(framework, key, meaning, around, span) });
  }

  #end(span: SpanLike, framework: FrameworkPort, port: AgentPort): void {
    const key = keyOf(span);
    const open = this.#open.get(key) ?? {};
    this.#open.delete(key);
    // What has begun must be ended, even if fields of the span throw now.
    const meaning = attempt(() => findMeaning(span));
    const around = this.#around(span, framework);
    if (open.kind === undefined) framework.forget(key);
    if (meaning?.kind === 'model') {
      // If a tap saw the request, it recorded more, and while the call was in flight.
      if (!this.#isTapped(span, key, open.since ?? 0, port)) this.#recordCall(span, around, port);
      return;
    }
    // Some libraries name their spans only at the end.
    const kind = open.kind ?? (meaning && begin(framework, key, meaning, around, span));
    if (kind) finish(framework, key, kind, span);
  }

  #isTapped(span: SpanLike, key: string, since: number, port: AgentPort): boolean {
    const covers = (inner: string) => this.#isInside(inner, key);
    const responseId = attempt(() => responseIdOf(span.attributes));
    const model = attempt(() => modelOf(span.attributes));
    return port.tapped?.claim({ covers, responseId, model, since }) ?? false;
  }

  #isInside(span: string, outer: string): boolean {
    let at: string | undefined = span;
    for (let depth = 0; at !== undefined && depth < deepestSpans; depth++) {
      if (at === outer) return true;
      at = this.#parents.get(at);
    }
    return false;
  }

  #around(span: SpanLike, framework: FrameworkPort): AgentScope {
    const parent = parentKeyOf(span);
    return (parent === undefined ? undefined : framework.scopeOf(parent)) ?? currentPlace();
  }

  #recordCall(span: SpanLike, around: AgentScope, port: AgentPort): void {
    const { input, output, attributes } = attempt(() => readModelCall(span)) ?? unreadable;
    const call = port.nextId('c');
    const conversation = { keep: 0, add: input.map((message) => this.#messageId(message, port)) };
    const answer = output.map((message) => this.#messageId(message, port));
    port.record(
      'model.start',
      { call, source: 'opentelemetry', conversation, bytes: 0, ...around },
      { attributes },
    );
    const error = attempt(() => errorOfSpan(span));
    port.record(
      'model.end',
      {
        call,
        status: error ? 'failed' : 'finished',
        tookMs: tookMsOf(span),
        bytes: 0,
        frames: 0,
        output: answer,
      },
      { attributes, ...(error && { error }) },
    );
  }

  /** Records each message once, because every span repeats the conversation so far. */
  #messageId(message: Message, port: AgentPort): string {
    // A message with a cycle or a bigint has no hash and is recorded each time.
    const hash = attempt(() => hashOf('sha1', JSON.stringify(message)));
    const known = hash && this.#messageIds.get(hash);
    if (known) return known;
    const id = port.nextId('m');
    if (hash) this.#messageIds.set(hash, id);
    const { role, parts } = message;
    port.record('message', { message: id, role }, { parts: parts.slice(0, mostParts) });
    return id;
  }
}

function begin(
  framework: FrameworkPort,
  key: string,
  meaning: Exclude<SpanMeaning, { kind: 'model' }>,
  around: AgentScope,
  span: SpanLike,
): NonNullable<Open['kind']> {
  if (meaning.kind === 'tool') framework.startTool(key, meaning, around);
  else if (meaning.kind === 'run' || around.run === undefined) {
    framework.startRun(
      key,
      meaning.name,
      around,
      attempt(() => readIds(span.attributes)),
    );
    return 'run';
  } else framework.startStep(key, meaning.name, around, meaning.input);
  return meaning.kind === 'tool' ? 'tool' : 'step';
}

function finish(
  framework: FrameworkPort,
  key: string,
  kind: NonNullable<Open['kind']>,
  span: SpanLike,
): void {
  const error = attempt(() => errorOfSpan(span));
  const status = error ? 'failed' : 'finished';
  const result = attempt(() => resultOf(span.attributes));
  const outcome = { status, ...(result === undefined ? {} : { result }), ...(error && { error }) } as const;
  if (kind === 'run') framework.endRun(key, outcome);
  else if (kind === 'step') framework.endStep(key, outcome);
  else framework.endTool(key, outcome);
}
