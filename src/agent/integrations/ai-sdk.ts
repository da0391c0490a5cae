/**
 * The AI SDK (npm `ai`). Version 7 publishes its work on the tracing channel `ai:telemetry`, in the asynchronous context of
 * the work, so that model calls are attributed to their step exactly. Version 6 only has a global list of integrations and
 * reports no errors, so only its tool calls are recorded. Seen in 6.0.326 and 7.0.173.
 */
import { channel } from 'node:diagnostics_channel';
import { type JsonObject, objectOf, stringOf } from '../calls/json.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import type { AgentScope } from '../record/scope.ts';
import { listenTo, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { FrameworkRecorder, failed, finished } from './framework.ts';

interface Message {
  type?: unknown;
  event?: unknown;
  result?: unknown;
  error?: unknown;
}

const runTypes = new Set(['generateText', 'streamText', 'generateObject', 'streamObject']);

/** Starts listening. */
export function integrateAiSdk(recorder: AgentRecorder): Tap {
  const channel = listenToChannel(recorder);
  const leaveRegistry = joinRegistry(recorder);
  return {
    hear: channel.hear,
    undo() {
      channel.undo();
      leaveRegistry();
    },
  };
}

function listenToChannel(recorder: AgentRecorder): Tap {
  const framework = new FrameworkRecorder(recorder, 'ai-sdk', 'soon');
  const work = new ChannelWork(recorder, framework);
  const start = channel('tracing:ai:telemetry:start');
  const transform = (message: unknown): AgentScope => work.begin(message as Message) ?? recorder.scope;
  start.bindStore(recorder.storage, transform as never);
  const { hear, undo } = listenTo<Message>('tracing:ai:telemetry:', {
    start: (message) => void work.begin(message),
    asyncEnd: (message) => work.end(message),
    error: (message) => work.fail(message),
  });
  return {
    hear,
    undo() {
      undo();
      start.unbindStore(recorder.storage);
    },
  };
}

class ChannelWork {
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;
  /** The channel passes the same message object from start to end. */
  readonly #begun = new WeakMap<object, AgentScope | undefined>();
  readonly #models = new WeakMap<object, number>();
  #modelCount = 0;

  constructor(recorder: AgentRecorder, framework: FrameworkRecorder) {
    this.#recorder = recorder;
    this.#framework = framework;
  }

  /** The scope of the work that begins. Called once by the store and once by the channel. Never throws. */
  begin(message: Message): AgentScope | undefined {
    if (this.#begun.has(message)) return this.#begun.get(message);
    let scope: AgentScope | undefined;
    try {
      scope = this.#start(message, objectOf(message.event));
    } catch {
      scope = undefined;
    }
    this.#begun.set(message, scope);
    return scope;
  }

  end(message: Message): void {
    const { key, kind } = keyOf(message);
    const result = objectOf(message.result);
    if (kind === 'run') this.#framework.endRun(key, finished());
    else if (kind === 'step') this.#framework.endStep(key, finished());
    else if (kind === 'tool') this.#framework.endTool(key, toolOutcome(objectOf(result['output'])));
    else if (kind === 'model') this.#framework.endModel(this.#keyOf(message));
  }

  fail(message: Message): void {
    const { key, kind } = keyOf(message);
    if (kind === 'run') this.#framework.endRun(key, failed(message.error));
    else if (kind === 'step') this.#framework.endStep(key, failed(message.error));
    else if (kind === 'tool') this.#framework.endTool(key, failed(message.error));
    else if (kind === 'model') this.#framework.endModel(this.#keyOf(message), failed(message.error));
  }

  /** Retries of a step are separate calls that have no distinguishing field. */
  #keyOf(message: Message): string {
    return `model ${this.#models.get(message)}`;
  }

  #start(message: Message, event: JsonObject): AgentScope | undefined {
    const type = String(message.type);
    const { key, kind } = keyOf(message);
    const around = this.#recorder.scope;
    // The steps of a stream run outside of the context in which it was started.
    const run = this.#framework.scopeOf(`run ${event['callId']}`) ?? around;
    const model = [event['provider'], event['modelId']].filter((one) => typeof one === 'string').join(' ');
    if (kind === 'run') return this.#framework.startRun(key, `${type} ${model}`.trim(), around);
    const inside = around.run === run.run ? around : run;
    if (kind === 'step')
      return this.#framework.startStep(key, `step ${Number(event['stepNumber'] ?? 0) + 1}`, run);
    if (kind === 'tool') return this.#framework.startTool(key, toolCall(event), inside);
    if (kind === 'model') {
      this.#models.set(message, ++this.#modelCount);
      const [provider, id] = [stringOf(event['provider']), stringOf(event['modelId'])];
      this.#framework.startModel(this.#keyOf(message), { provider, model: id }, inside);
    }
    return inside;
  }
}

function keyOf({ type, event }: Message): {
  key: string;
  kind: 'run' | 'step' | 'tool' | 'model' | undefined;
} {
  const { callId, stepNumber, toolCall } = objectOf(event);
  if (runTypes.has(String(type))) return { key: `run ${callId}`, kind: 'run' };
  if (type === 'step') return { key: `step ${callId} ${stepNumber}`, kind: 'step' };
  if (type === 'executeTool')
    return { key: `tool ${callId} ${objectOf(toolCall)['toolCallId']}`, kind: 'tool' };
  return { key: '', kind: type === 'languageModelCall' ? 'model' : undefined };
}

function toolCall(event: JsonObject): { name: string; arguments: unknown; callId: string | undefined } {
  const { toolName, input, toolCallId } = objectOf(event['toolCall']);
  return { name: stringOf(toolName) ?? 'unknown', arguments: input, callId: stringOf(toolCallId) };
}

function toolOutcome(output: JsonObject) {
  return output['type'] === 'tool-error' ? failed(output['error']) : finished(output['output']);
}

const registryName = 'AI_SDK_TELEMETRY_INTEGRATIONS';

/** Version 6 calls `onToolCallStart` and `onToolCallFinish`, which version 7 no longer has. */
function joinRegistry(recorder: AgentRecorder): () => void {
  const framework = new FrameworkRecorder(recorder, 'ai-sdk');
  const integration = {
    onToolCallStart: guarded((event: unknown) => {
      const call = toolCall(objectOf(event));
      framework.startTool(String(call.callId), call, recorder.scope);
    }),
    onToolCallFinish: guarded((event: unknown) => {
      const { toolCall: call, success, output, error } = objectOf(event);
      const outcome = success === false ? failed(error) : finished(output);
      framework.endTool(String(objectOf(call)['toolCallId']), outcome);
    }),
  };
  const globals = globalThis as unknown as Record<string, unknown[] | undefined>;
  const list = globals[registryName] ?? [];
  list.push(integration);
  const descriptor = { value: list, configurable: true, writable: true, enumerable: false };
  Object.defineProperty(globalThis, registryName, descriptor);
  return () => {
    const at = list.indexOf(integration);
    if (at !== -1) list.splice(at, 1);
  };
}
