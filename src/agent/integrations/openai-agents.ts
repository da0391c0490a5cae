/**
 * OpenAI's Agents SDK (`@openai/agents`). It stores its trace provider under a registered symbol on globalThis. When it does,
 * a trace processor is added to the provider's list, and stays in it if the list is replaced. The SDK's asynchronous context,
 * found in the same way, identifies the work that the running code belongs to, even after the tool that started it has
 * returned.
 *
 * If tracing is off for the process (also under NODE_ENV=test), the provider still creates a span for each piece of work,
 * with its data, and starts and ends it without effect; those spans are watched individually. A Runner with its own
 * `tracingDisabled` creates none, and is not seen. Seen in 0.12.1 and 0.20.0.
 */
import { isObject, type JsonObject, objectOf, parseArguments, stringOf } from '../calls/json.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { readIds } from '../record/run-ids.ts';
import type { AgentScope } from '../record/scope.ts';
import { silentTap, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { startOwnTimer } from '../taps/own-timer.ts';
import { defineMethod, shadowFirst } from '../taps/shadow.ts';
import { FrameworkRecorder, failed, finished, type Outcome } from './framework.ts';

const providerKey = Symbol.for('openai.agents.core.traceProvider');
const storageKey = Symbol.for('openai.agents.core.asyncLocalStorage');

/** The id that the SDK gives every trace and span while tracing is off. */
const noId = 'no-op';

const contextLimit = 200;

interface Provider {
  registerProcessor(processor: object): void;
  setProcessors(processors: object[]): void;
}

type Method = (...args: unknown[]) => unknown;

/** Starts listening. */
export function integrateOpenaiAgents(recorder: AgentRecorder): Tap {
  const work = new TracedWork(recorder);
  recorder.contexts.push(() => work.scope);
  const globals = globalThis as unknown as Record<symbol, unknown>;
  if (globals[providerKey] !== undefined) {
    join(globals[providerKey] as Provider, work);
    return silentTap;
  }
  // The SDK reads the property before it sets it, and treats a getter that returns undefined as absent.
  Object.defineProperty(globalThis, providerKey, {
    configurable: true,
    enumerable: false,
    get: () => undefined,
    set(provider: Provider) {
      Object.defineProperty(globalThis, providerKey, { value: provider, configurable: true, writable: true });
      guarded(join)(provider, work);
    },
  });
  return {
    hear() {},
    undo() {
      if (globals[providerKey] === undefined) Reflect.deleteProperty(globalThis, providerKey);
    },
  };
}

function join(provider: Provider, work: TracedWork): void {
  if (typeof provider?.registerProcessor !== 'function') return;
  const processor = makeProcessor(work);
  provider.registerProcessor(processor);
  shadowResult(provider, 'setProcessors', (set, processors) =>
    set(Array.isArray(processors) ? [...processors, processor] : processors),
  );
  shadowResult(provider, 'createTrace', (create, options) => {
    const trace = create(options);
    watchTrace(trace, options, work);
    return trace;
  });
  shadowResult(provider, 'createSpan', (create, options, parent) => {
    const span = create(options, parent);
    watchSpan(span, parent, work);
    return span;
  });
}

/** Replaces a method of this object by `around`. */
function shadowResult(
  target: object,
  name: string,
  around: (original: Method, ...args: unknown[]) => unknown,
): void {
  const original = (target as Record<string, unknown>)[name];
  if (typeof original !== 'function') return;
  defineMethod(target, name, function (this: unknown, ...args: unknown[]) {
    return around((...given) => Reflect.apply(original, this, given), ...args);
  });
}

/**
 * Runs, steps and tool calls from the SDK's traces: a trace is a run, an agent span a step of it, a function span a tool
 * call.
 */
class TracedWork {
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;
  /**
   * By the stores of the SDK's storage. Each function call has its own store, which asynchronous work that it starts keeps.
   */
  readonly #scopes = new WeakMap<object, AgentScope>();
  /** Keys for traces and spans without an id of their own, and for their copies. */
  readonly #keys = new WeakMap<object, string>();
  /** By the keys of traces that have not ended: the store that the SDK sets for code inside of them. */
  readonly #contexts = new BoundedMap<JsonObject>(contextLimit);
  #made = 0;

  constructor(recorder: AgentRecorder) {
    this.#recorder = recorder;
    this.#framework = new FrameworkRecorder(recorder, 'openai-agents');
  }

  /** The scope of the running code. */
  get scope(): AgentScope | undefined {
    const store = this.#store();
    if (!store) return undefined;
    return this.#scopes.get(store) ?? this.#scopeOf(this.around());
  }

  /** Keys of the span and the trace that the running code is in. */
  around(): (string | undefined)[] {
    const { span, trace } = this.#store() ?? {};
    return [this.keyOf(span), this.keyOf(trace)];
  }

  keyOf(traced: unknown): string | undefined {
    if (!isObject(traced)) return undefined;
    const own = traced['spanId'] ?? traced['traceId'];
    return own === noId ? this.#keys.get(traced) : stringOf(own);
  }

  giveKey(traced: object, key = `untraced ${++this.#made}`): string {
    this.#keys.set(traced, key);
    return key;
  }

  startTrace(key: string, { name, groupId, metadata }: JsonObject): void {
    const store = this.#store();
    if (store) this.#contexts.set(key, store);
    const ids = readIds(metadata, { groupId });
    this.#framework.startRun(key, stringOf(name) ?? 'Agent workflow', this.#recorder.scope, ids);
  }

  endTrace(key: string): void {
    this.#contexts.delete(key);
    this.#framework.endRun(key, finished());
  }

  /**
   * The outermost span of a trace ended with an error. The SDK never ends the trace of a run that throws, but it leaves the
   * trace's context. A trace opened by the program continues after the program caught the error.
   */
  failTrace(key: string, error: unknown): void {
    const context = this.#contexts.get(key);
    if (!context || !error) return;
    const { inFlight } = this.#recorder;
    const look = {
      flush: () => {
        inFlight.delete(look);
        if (context['active'] !== false) return;
        this.#contexts.delete(key);
        this.#framework.endRun(key, failed(toolErrorOf(error)));
      },
    };
    inFlight.add(look);
    startOwnTimer(look.flush, 0);
  }

  startSpan(key: string, around: (string | undefined)[], data: JsonObject): void {
    const scope = this.#scopeOf(around) ?? this.#recorder.scope;
    const name = stringOf(data['name']) ?? String(data['type']);
    if (data['type'] === 'agent') this.#framework.startStep(key, `agent ${name}`, scope);
    else if (data['type'] === 'function')
      this.#framework.startTool(
        key,
        { name, arguments: data['input'] && parseArguments(data['input']) },
        scope,
      );
    else this.#framework.alias(key, scope);
    const store = this.#store();
    const inside = this.#framework.scopeOf(key);
    if (store && inside) this.#scopes.set(store, inside);
  }

  endSpan(key: string, data: JsonObject, error: unknown): void {
    const { output } = data;
    // After an error, the output is the text that the model receives instead.
    const outcome: Outcome = error
      ? { ...failed(toolErrorOf(error)), ...finishedWith(output) }
      : finished(output);
    if (data['type'] === 'agent') this.#framework.endStep(key, outcome);
    else if (data['type'] === 'function') this.#framework.endTool(key, outcome);
    else this.#framework.forget(key);
  }

  #scopeOf(keys: (string | undefined)[]): AgentScope | undefined {
    for (const key of keys) {
      const scope = key === undefined ? undefined : this.#framework.scopeOf(key);
      if (scope) return scope;
    }
    return undefined;
  }

  #store(): JsonObject | undefined {
    const storage = (globalThis as unknown as Record<symbol, { getStore?: () => unknown } | undefined>)[
      storageKey
    ];
    const store = storage?.getStore?.();
    return isObject(store) ? store : undefined;
  }
}

/** The trace processor, for traces and spans while tracing is on. */
function makeProcessor(work: TracedWork): object {
  const onTraceStart = guarded((trace: unknown) => {
    const facts = objectOf(trace);
    work.startTrace(String(facts['traceId']), facts);
  });
  const onTraceEnd = guarded((trace: unknown) => work.endTrace(String(objectOf(trace)['traceId'])));
  const onSpanStart = guarded((span: unknown) => {
    const { spanId, parentId, traceId, spanData } = span as Record<string, unknown>;
    work.startSpan(String(spanId), [String(parentId), String(traceId)], objectOf(spanData));
  });
  const onSpanEnd = guarded((span: unknown) => {
    const { spanId, parentId, traceId, spanData, error } = span as Record<string, unknown>;
    work.endSpan(String(spanId), objectOf(spanData), error);
    if (typeof parentId !== 'string') work.failTrace(String(traceId), error);
  });
  const done = Promise.resolve();
  const then = (observe: (value: unknown) => void) => (value: unknown) => {
    observe(value);
    return done;
  };
  return {
    onTraceStart: then(onTraceStart),
    onTraceEnd: then(onTraceEnd),
    onSpanStart: then(onSpanStart),
    onSpanEnd: then(onSpanEnd),
    shutdown: () => done,
    forceFlush: () => done,
  };
}

/**
 * For a tool that threw, the message of the error only says that it failed. `data.error` is the tool's own error, e.g.
 * `TypeError: no such city`; with the SDK's default `errorFunction` it is a text saying that it was redacted.
 */
function toolErrorOf(error: unknown): unknown {
  const own = stringOf(objectOf(objectOf(error)['data'])['error']);
  if (own === undefined) return error;
  const [, name, message] = /^(\w*Error): ([\s\S]*)$/.exec(own) ?? [];
  return name === undefined ? { message: own } : { name, message };
}

const finishedWith = (output: unknown) => (output === undefined ? {} : { result: output });

const watchTrace = guarded((trace: unknown, options: unknown, work: TracedWork) => {
  if (!isObject(trace) || trace['traceId'] !== noId) return;
  const key = work.giveKey(trace);
  shadowFirst(trace, 'start', () => work.startTrace(key, objectOf(options)));
  shadowFirst(trace, 'end', () => work.endTrace(key));
  followCopies(trace, key, work);
});

const watchSpan = guarded((span: unknown, parent: unknown, work: TracedWork) => {
  if (!isObject(span) || span['spanId'] !== noId) return;
  const key = work.giveKey(span);
  const around = [work.keyOf(parent), ...work.around()];
  let error: unknown;
  shadowFirst(span, 'start', () => work.startSpan(key, around, objectOf(span['spanData'])));
  shadowFirst(span, 'setError', (given) => {
    error = given;
  });
  const [outer, traceKey] = work.around();
  const isOutermost = parent === undefined ? outer === undefined : work.keyOf(parent) === traceKey;
  shadowFirst(span, 'end', () => {
    work.endSpan(key, objectOf(span['spanData']), error);
    if (traceKey !== undefined && isOutermost) work.failTrace(traceKey, error);
  });
  followCopies(span, key, work);
});

/** Each new context of the SDK begins with copies of the surrounding trace and span. */
function followCopies(traced: object, key: string, work: TracedWork): void {
  shadowResult(traced, 'clone', (clone) => {
    const copy = clone();
    if (isObject(copy)) work.giveKey(copy, key);
    return copy;
  });
}
