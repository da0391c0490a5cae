/**
 * Whose work the running code is, by its asynchronous context. What the context does not contain is not guessed from what runs
 * at the same time.
 */
import { asyncHooks } from '../../agent/node-modules.ts';
import type { Origin } from '../../agent/record/causal-context.ts';
import type { OriginPart, RawFrame } from '../../bundle/layout/bundle.ts';
import type { ByOrigin } from '../../journal/layout/agent.ts';
import { requestIdOf } from './describe-request.ts';
import type { Origins, RequestOrigin, RequestWatch } from './request-watch.ts';

const mostLinks = 16;

export interface FoundOrigin {
  current?: Origin;
  lost?: NonNullable<OriginPart['lost']>;
  maker?: RequestOrigin;
}

/** `frames`: of the thrown value. */
export function readOrigin({ causal, requests }: Origins, frames: readonly RawFrame[] = []): FoundOrigin {
  const resource = asyncHooks().executionAsyncResource() as Resource;
  // Promises that were created before contexts were enabled run in those of others.
  const current = requests.areAllFollowed ? causal.current : undefined;
  if (!current) return byCallback(resource, requests);
  const request = ancestors(current).find(isRequest);
  const shared = connectionOf(resource);
  // The callbacks of a shared connection run in the context in which it was opened. Any other context is that of an async
  // function that goes on, or of a bound callback.
  const isOwn =
    shared &&
    request &&
    (isOwnConnection(request, shared, requests) || requests.isOpenedElsewhere(shared, current));
  if (shared && !isOwn) {
    const sender = causal.senderOn?.(shared);
    return sender ? { current: sender } : byCallback(resource, requests);
  }
  if (request && callsAgain(resource, frames)) {
    const test = ancestors(current).find(({ kind }) => kind === 'test');
    return { ...(test && { current: test }), lost: 'recurring', maker: request };
  }
  return { current };
}

/** The request and the test whose work the running code is; asked for each call that a program makes to other servers. */
export function currentOrigin(origins: Origins): ByOrigin {
  if (origins.requests.count === 0 && !origins.causal.isArmed) return {};
  const found = ancestors(readOrigin(origins).current);
  const request = found.find(isRequest);
  const test = found.find(({ kind }) => kind === 'test')?.describe?.()?.name;
  const by: ByOrigin = {};
  if (request) by.request = requestIdOf(request);
  if (test) by.test = test.join(' › ');
  return by;
}

/**
 * A resource that calls back more than once is often shared by all requests, and was created by the first one that needed it.
 * The failing listener of a port (including that of a worker thread) is called from a separate tick, so that only the stack
 * shows it.
 */
function callsAgain(resource: Resource, frames: readonly RawFrame[]): boolean {
  const name = resource?.constructor?.name ?? '';
  if (name === 'Timeout') return typeof resource._repeat === 'number';
  return (
    /^(?:FSEvent|StatWatcher|UDP|Signal|MessagePort)$/.test(name) ||
    frames.some(({ url }) => url === 'node:internal/per_context/messageport')
  );
}

interface Resource {
  /** On Node's own resource for the requests of a connection. */
  socket?: unknown;
  /** On an interval: its milliseconds. */
  _repeat?: unknown;
  constructor?: { name?: string };
}

/** Without a context the running callback may still belong to the requests of one connection. */
function byCallback(resource: Resource, requests: RequestWatch): FoundOrigin {
  const isRequests = resource?.constructor?.name === 'HTTPServerAsyncResource';
  const socket = isRequests ? resource.socket : connectionOf(resource);
  const found = socket ? requests.onConnection(socket) : undefined;
  if (found) return { current: found };
  if (!requests.isFollowing || !requests.areAllFollowed) return { lost: 'not-followed' };
  return { lost: socket && !isRequests ? 'connection' : 'no-context' };
}

/** The socket whose bytes are being delivered, if that is what runs. */
function connectionOf(resource: Resource): object | undefined {
  if (!/^(?:TCP|Pipe|TLSWrap)$/.test(resource?.constructor?.name ?? '')) return undefined;
  const owner = Object.getOwnPropertySymbols(resource).find(
    ({ description }) => description === 'owner_symbol',
  );
  const found = owner && (resource as Record<symbol, unknown>)[owner];
  return typeof found === 'object' && found !== null ? found : undefined;
}

function isOwnConnection(origin: RequestOrigin, socket: object, requests: RequestWatch): boolean {
  const { request, stream, upgraded } = origin.start ?? {};
  const own = upgraded ?? request?.socket ?? stream?.session?.socket;
  return own === socket || requests.onConnection(socket) === origin;
}

/** By its kind, because this half has its own copy of the class. */
export function isRequest(origin: Origin): origin is RequestOrigin {
  return origin.kind === 'request';
}

export function ancestors(origin: Origin | undefined): Origin[] {
  const found: Origin[] = [];
  for (let one = origin; one && found.length < mostLinks; one = one.parent) found.push(one);
  return found;
}
