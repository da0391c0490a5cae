/**
 * OpenAI's Agents SDK (`@openai/agents`). Its trace provider is kept under a registered symbol on globalThis: when it
 * puts it there, a trace processor of ours joins its list, and stays in it when the list is replaced. Its asynchronous
 * context, which is found in the same way, tells on whose behalf code runs, also when the tool that left it behind has
 * returned. Silent when the host turned tracing off. Seen in 0.12.1 and 0.20.0.
 */
import { isObject, type JsonObject, objectOf, parseArguments, stringOf } from '../json.ts';
import type { AgentRecorder } from '../recorder.ts';
import type { AgentScope } from '../scope.ts';
import { silentTap, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { FrameworkRecorder, failed, finished, type Outcome } from './framework.ts';

const providerKey = Symbol.for('openai.agents.core.traceProvider');
const storageKey = Symbol.for('openai.agents.core.asyncLocalStorage');

interface Provider {
  registerProcessor(processor: object): void;
  setProcessors(processors: object[]): void;
}

/** Starts to listen. */
export function integrateOpenaiAgents(recorder: AgentRecorder): Tap {
  const framework = new FrameworkRecorder(recorder, 'openai-agents');
  const contexts = new Contexts(framework);
  const processor = makeProcessor(recorder, framework, contexts);
  recorder.contexts.push(() => contexts.scope);
  const globals = globalThis as unknown as Record<symbol, unknown>;
  if (globals[providerKey] !== undefined) {
    join(globals[providerKey] as Provider, processor);
    return silentTap;
  }
  // The SDK looks whether there is a property before it sets one: a getter that answers undefined passes for none.
  Object.defineProperty(globalThis, providerKey, {
    configurable: true,
    enumerable: false,
    get: () => undefined,
    set(provider: Provider) {
      Object.defineProperty(globalThis, providerKey, { value: provider, configurable: true, writable: true });
      guarded(join)(provider, processor);
    },
  });
  return {
    hear() {},
    undo() {
      if (globals[providerKey] === undefined) Reflect.deleteProperty(globalThis, providerKey);
    },
  };
}

function join(provider: Provider, processor: object): void {
  if (typeof provider?.registerProcessor !== 'function') return;
  provider.registerProcessor(processor);
  const set = provider.setProcessors;
  if (typeof set !== 'function') return;
  Object.defineProperty(provider, 'setProcessors', {
    configurable: true,
    writable: true,
    enumerable: false,
    value(this: Provider, processors: object[]) {
      const all = Array.isArray(processors) ? [...processors, processor] : processors;
      return Reflect.apply(set, this, [all]);
    },
  });
}

/** The stores of the SDK's storage: each function call has one of its own, which what it leaves behind keeps. */
class Contexts {
  readonly #framework: FrameworkRecorder;
  readonly #scopes = new WeakMap<object, AgentScope>();

  constructor(framework: FrameworkRecorder) {
    this.#framework = framework;
  }

  /** The span that the running code has just begun. */
  enter(scope: AgentScope | undefined): void {
    const store = this.#store();
    if (store && scope) this.#scopes.set(store, scope);
  }

  get scope(): AgentScope | undefined {
    const store = this.#store();
    if (!store) return undefined;
    const known = this.#scopes.get(store);
    if (known) return known;
    const { span, trace } = store;
    return (
      this.#framework.scopeOf(String(objectOf(span)['spanId'])) ??
      this.#framework.scopeOf(String(objectOf(trace)['traceId']))
    );
  }

  #store(): JsonObject | undefined {
    const storage = (globalThis as unknown as Record<symbol, { getStore?: () => unknown } | undefined>)[
      storageKey
    ];
    const store = storage?.getStore?.();
    return isObject(store) ? store : undefined;
  }
}

/** A trace is a run, an agent a step of it, a function a tool call. */
function makeProcessor(recorder: AgentRecorder, framework: FrameworkRecorder, contexts: Contexts): object {
  const onTraceStart = guarded((trace: unknown) => {
    const { traceId, name } = objectOf(trace);
    framework.startRun(String(traceId), stringOf(name) ?? 'trace', recorder.scope);
  });
  const onTraceEnd = guarded((trace: unknown) =>
    framework.endRun(String(objectOf(trace)['traceId']), finished()),
  );
  const onSpanStart = guarded((span: unknown) => {
    const { id, around, data } = readSpan(span);
    const scope = around.map((key) => framework.scopeOf(key)).find((found) => found) ?? recorder.scope;
    const name = stringOf(data['name']) ?? String(data['type']);
    if (data['type'] === 'agent') framework.startStep(id, `agent ${name}`, scope);
    else if (data['type'] === 'function')
      framework.startTool(id, { name, arguments: data['input'] && parseArguments(data['input']) }, scope);
    else framework.alias(id, scope);
    contexts.enter(framework.scopeOf(id));
  });
  const onSpanEnd = guarded((span: unknown) => {
    const { id, data, error } = readSpan(span);
    const { output } = data;
    // With an error, the output is the text that the model is told in its place.
    const outcome: Outcome = error ? { ...failed(error), ...finishedWith(output) } : finished(output);
    if (data['type'] === 'agent') framework.endStep(id, outcome);
    else if (data['type'] === 'function') framework.endTool(id, outcome);
    else framework.forget(id);
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

const finishedWith = (output: unknown) => (output === undefined ? {} : { result: output });

function readSpan(span: unknown) {
  const { spanId, parentId, traceId, spanData, error } = span as Record<string, unknown>;
  return { id: String(spanId), around: [String(parentId), String(traceId)], data: objectOf(spanData), error };
}
