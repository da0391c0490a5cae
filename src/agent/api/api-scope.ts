/**
 * Runs a piece of the host's work under a name. Its start is recorded before, its end when it returns, throws or settles, and
 * every event recorded in between carries its ids. Without the preload it only calls the work.
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

/** The preload's storage, so that the taps see the scope; without the preload, a storage of this module. */
function scopeStorage(): AsyncLocalStorage<AgentScope> {
  const port = findPort();
  if (port) return port.storage;
  ownStorage ??= new (asyncHooks().AsyncLocalStorage)<AgentScope>();
  return ownStorage;
}

const outside: AgentScope = Object.freeze({});

/** The scope that this API opened around the calling code. */
export function currentScope(): AgentScope {
  return scopeStorage().getStore() ?? outside;
}

/** The scope of the calling code, including scopes opened by a framework. */
export function currentPlace(): AgentScope {
  return findPort()?.scope ?? currentScope();
}

export interface Ending {
  status: EndStatus;
  tookMs: number;
  result?: unknown;
  error?: ReturnType<typeof errorOf>;
}

/**
 * Calls `work` in `scope`, and `onEnd` after it returned, threw or settled. Returns the result of `work`, or a promise of it.
 */
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

/** Calls `onEnd` when the promise settles; the returned promise settles after that. */
export function watchPromise<Value>(
  promise: PromiseLike<Value>,
  onEnd: (ending: Ending) => void,
): Promise<Value> {
  return runScoped(currentScope(), () => Promise.resolve(promise), onEnd);
}

/** The id of the run, step or tool call that each promise is the outcome of. */
const owners = new WeakMap<object, string>();

/** Remembers the owner of the outcome if it is a promise. Returns the outcome. */
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
