/**
 * LangChain and LangGraph. All copies of @langchain/core share one AsyncLocalStorage under a registered symbol, provided by
 * the first that is loaded. The storage installed here, if it has no store, returns context variables that name a callback
 * handler, so that every chain, graph node and tool reports to it without any module being patched. The key of those hooks is
 * a private symbol that can only be recognized by its description. Disabled if LangSmith's tracing is on. Seen in
 * @langchain/core 1.4.0 and @langchain/langgraph 1.7.3.
 */
import { isObject, objectOf, parseArguments, stringOf } from '../calls/json.ts';
import { asyncHooks } from '../node-modules.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { readIds } from '../record/run-ids.ts';
import type { AgentScope } from '../record/scope.ts';
import { silentTap, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { ours } from '../taps/own-work.ts';
import { FrameworkRecorder, failed, finished, type Outcome } from './framework.ts';
import { stepResult, toolResult } from './langchain-result.ts';

const storageKey = Symbol.for('ls:tracing_async_local_storage');
const variablesKey = Symbol.for('lc:context_variables');
const configKey = Symbol.for('lc:child_config');
const hooksDescription = 'lc:configure_hooks';
const handlerName = 'agentdump';

type Variables = Record<string | symbol, unknown>;

/** Starts listening. Does nothing if another copy has already provided the storage. */
export function integrateLangChain(recorder: AgentRecorder): Tap {
  const globals = globalThis as unknown as Record<symbol, unknown>;
  if (globals[storageKey] !== undefined || isLangSmithOn()) return silentTap;
  const framework = new FrameworkRecorder(recorder, 'langchain');
  const handlers = makeHandler(recorder, framework);
  const { storage, read } = makeStorage(handlers, (by) => recorder.sites.begin(by, 'run'));
  recorder.contexts.push(() => scopeIn(read(), framework));
  const descriptor = { value: storage, configurable: true, writable: true, enumerable: false };
  Object.defineProperty(globalThis, storageKey, descriptor);
  return {
    hear() {},
    undo() {
      if (globals[storageKey] === storage) Reflect.deleteProperty(globalThis, storageKey);
    },
  };
}

function isLangSmithOn(): boolean {
  const { LANGSMITH_TRACING, LANGCHAIN_TRACING_V2, LANGSMITH_TRACING_V2 } = process.env;
  return [LANGSMITH_TRACING, LANGCHAIN_TRACING_V2, LANGSMITH_TRACING_V2].includes('true');
}

/**
 * `begin` is given the handler of what may begin now, while its caller is on the stack: its run is reported later. `read` is for us:
 * where there is no store, LangChain's own reading makes one and captures a stack.
 */
function makeStorage({ shared, own }: Handlers, begin: (by: object) => void) {
  const storage = new (asyncHooks().AsyncLocalStorage)<Variables | undefined>();
  const hooks = [{ contextVar: handlerName, inheritable: true }];
  let hooksKey: symbol | undefined;
  const makeVariables = (handler: object): Variables =>
    new Proxy(
      { [handlerName]: handler },
      {
        get(target, key) {
          if (typeof key !== 'symbol' || key.description !== hooksDescription)
            return Reflect.get(target, key);
          hooksKey = key;
          return hooks;
        },
      },
    );
  const variables = makeVariables(shared);
  const nothing = (): Variables => {
    const handler = own();
    ours(() => begin(handler));
    return { [variablesKey]: makeVariables(handler) };
  };
  const read = storage.getStore.bind(storage);
  const shadow = () => {
    const store = read();
    if (!isObject(store)) return store ?? nothing();
    ours(() => joinVariables(store as Variables, variables, hooksKey, hooks, shared));
    return store;
  };
  Object.defineProperty(storage, 'getStore', { value: shadow, enumerable: false, configurable: true });
  return { storage, read };
}

/** Adds our variables to those of a store of the host, or sets all of ours if it has none. */
function joinVariables(
  store: Variables,
  ours: Variables,
  hooksKey: symbol | undefined,
  hooks: object[],
  handler: object,
): void {
  const theirs = store[variablesKey] as Variables | undefined;
  if (theirs === undefined) {
    if (Object.isExtensible(store))
      Object.defineProperty(store, variablesKey, { value: ours, writable: true, configurable: true });
  } else if (theirs !== ours && theirs[handlerName] === undefined && hooksKey) {
    theirs[handlerName] = handler;
    const listed = theirs[hooksKey];
    theirs[hooksKey] = Array.isArray(listed) ? [...listed, ...hooks] : hooks;
  }
}

/** The scope of code whose configuration is in LangChain's storage: the run that is the parent of its callbacks. */
function scopeIn(store: unknown, framework: FrameworkRecorder): AgentScope | undefined {
  const { callbacks } = objectOf(objectOf(objectOf(store)['extra'])[configKey as never]);
  const parent = objectOf(callbacks)['_parentRunId'];
  return typeof parent === 'string' ? framework.scopeOf(parent) : undefined;
}

interface Handlers {
  shared: object;
  /** A new one for each caller, whose runs are noted under it. */
  own(): object;
}

/** Callback handlers. Their methods have the names and arguments of BaseCallbackHandler. */
function makeHandler(recorder: AgentRecorder, framework: FrameworkRecorder): Handlers {
  /** How each of LangChain's runs is recorded. */
  const kinds = new Map<string, 'run' | 'step' | 'inner'>();
  const scopeOf = (parent: unknown): AgentScope =>
    (typeof parent === 'string' ? framework.scopeOf(parent) : undefined) ?? recorder.scope;
  const inherit = (runId: string, scope: AgentScope) => {
    kinds.set(runId, 'inner');
    framework.alias(runId, scope);
  };
  const endChain = (runId: string, outcome: Outcome) => {
    const kind = kinds.get(runId);
    kinds.delete(runId);
    if (kind === 'run') framework.endRun(runId, outcome);
    else if (kind === 'step') framework.endStep(runId, outcome);
    else framework.forget(runId);
  };
  const startChain = (by: object | undefined) =>
    guarded(
      (
        chain: unknown,
        // The whole state of the graph. Not recorded, because the result of each earlier step already is.
        _input: unknown,
        runId: string,
        parent: unknown,
        _tags: unknown,
        metadata: unknown,
        _type: unknown,
        runName: unknown,
      ) => {
        const name = stringOf(runName) ?? stringOf(objectOf(chain)['name']) ?? 'chain';
        const node = objectOf(metadata)['langgraph_node'];
        if (parent === undefined) {
          kinds.set(runId, 'run');
          framework.startRun(runId, name, recorder.scope, readIds(metadata), by);
        } else if (node !== undefined && node === name) {
          kinds.set(runId, 'step');
          framework.startStep(runId, name, scopeOf(parent));
        } else inherit(runId, scopeOf(parent));
      },
    );
  const handler = {
    name: handlerName,
    awaitHandlers: true,
    raiseError: false,
    ignoreLLM: false,
    ignoreChain: false,
    ignoreAgent: false,
    ignoreRetriever: true,
    ignoreCustomEvent: true,
    copy: () => handler,
    handleChainStart: startChain(undefined),
    handleChainEnd: guarded((output: unknown, runId: string) =>
      endChain(runId, finished(stepResult(output))),
    ),
    handleChainError: guarded((error: unknown, runId: string) => endChain(runId, outcomeOf(error))),
    handleChatModelStart: guarded(
      (
        _model: unknown,
        _messages: unknown,
        runId: string,
        parent: unknown,
        _params: unknown,
        _tags: unknown,
        metadata: unknown,
      ) => {
        const { ls_provider: provider, ls_model_name: model } = objectOf(metadata);
        const named = { provider: stringOf(provider), model: stringOf(model) };
        framework.startModel(runId, named, scopeOf(parent));
      },
    ),
    handleLLMEnd: guarded((_output: unknown, runId: string) => framework.endModel(runId)),
    handleLLMError: guarded((error: unknown, runId: string) => framework.endModel(runId, failed(error))),
    handleToolStart: guarded(
      (
        tool: unknown,
        input: unknown,
        runId: string,
        parent: unknown,
        _tags: unknown,
        _metadata: unknown,
        runName: unknown,
        callId: unknown,
      ) => {
        const name = stringOf(runName) ?? stringOf(objectOf(tool)['name']) ?? 'tool';
        const call = { name, arguments: parseArguments(input), callId: stringOf(callId) };
        framework.startTool(runId, call, scopeOf(parent));
      },
    ),
    handleToolEnd: guarded((output: unknown, runId: string) =>
      framework.endTool(runId, finished(toolResult(output))),
    ),
    handleToolError: guarded((error: unknown, runId: string) => framework.endTool(runId, failed(error))),
  };
  return {
    shared: handler,
    own() {
      const own = { ...handler, copy: () => own };
      own.handleChainStart = startChain(own);
      return own;
    },
  };
}

/** A graph that waits for human input leaves its node with an error of this name. */
function outcomeOf(error: unknown): Outcome {
  const outcome = failed(error);
  return outcome.error?.type === 'GraphInterrupt' ? { ...outcome, status: 'interrupted' } : outcome;
}
