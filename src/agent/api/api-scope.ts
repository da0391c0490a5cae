/**
 * Runs a piece of the host's work under a name: its start before, its end when it returns, throws or settles, and in
 * between everything that is recorded from it bears its ids. Without the preload the work runs and nothing else.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { EndStatus } from '../../journal/layout/agent.ts';
import { errorOf, isAbort } from '../http/call-error.ts';
import { asyncHooks } from '../node-modules.ts';
import type { AgentScope } from '../record/scope.ts';
import { findHost } from './context.ts';
import type { AgentPort } from './port.ts';

let ownStorage: AsyncLocalStorage<AgentScope> | undefined;
const { now } = Date;

export function findPort(): AgentPort | undefined {
  return findHost()?.agent;
}

/** The preload's storage, so that the taps see the scope; one of our own without it. */
export function scopeStorage(): AsyncLocalStorage<AgentScope> {
  const port = findPort();
  if (port) return port.storage;
  ownStorage ??= new (asyncHooks().AsyncLocalStorage)<AgentScope>();
  return ownStorage;
}

const outside: AgentScope = Object.freeze({});

/** The scope that this API has opened around the calling code. */
export function currentScope(): AgentScope {
  return scopeStorage().getStore() ?? outside;
}

/** Where the calling code runs, in a framework's work too. */
export function currentPlace(): AgentScope {
  return findPort()?.scope ?? currentScope();
}

export interface Ending {
  status: EndStatus;
  tookMs: number;
  result?: unknown;
  error?: ReturnType<typeof errorOf>;
}

/** Calls `work` in `scope`; `onEnd` once it returned, threw or settled. Gives back what `work` gave or a promise of it. */
export function runScoped<Result>(
  scope: AgentScope,
  work: () => Result,
  onEnd: (ending: Ending) => void,
): Result {
  const startedAt = now();
  const finished = (result: unknown) => onEnd({ status: 'finished', tookMs: now() - startedAt, result });
  const failed = (error: unknown) =>
    onEnd({
      status: isAbort(error) ? 'aborted' : 'failed',
      tookMs: now() - startedAt,
      error: errorOf(error),
    });
  let result: Result;
  try {
    result = scopeStorage().run(scope, work);
  } catch (error) {
    failed(error);
    throw error;
  }
  if (!isThenable(result)) {
    finished(result);
    return result;
  }
  return Promise.resolve(result).then(
    (value) => {
      finished(value);
      return value;
    },
    (error) => {
      failed(error);
      throw error;
    },
  ) as Result;
}

/** Calls `onEnd` when the promise settles; the promise that is returned settles after it. */
export function watchPromise<Value>(
  promise: PromiseLike<Value>,
  onEnd: (ending: Ending) => void,
): Promise<Value> {
  return runScoped(currentScope(), () => Promise.resolve(promise), onEnd);
}

/** Which run, step or tool call a promise is the outcome of. */
const owners = new WeakMap<object, string>();

/** Remembers whose outcome this is, when it is a promise; gives it back. */
export function owned<Result>(id: string, result: Result): Result {
  if (id && isThenable(result)) owners.set(result, id);
  return result;
}

export function findOwner(promise: unknown): string | undefined {
  return typeof promise === 'object' && promise !== null ? owners.get(promise) : undefined;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
