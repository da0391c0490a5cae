/**
 * `origin.json`: the asynchronous context in which the program dies, read now, and the requests in flight. What the context
 * does not contain is not guessed from what runs at the same time.
 */

import { asyncHooks } from '../../agent/node-modules.ts';
import type { Origin } from '../../agent/record/causal-context.ts';
import type { AgentScope } from '../../agent/record/scope.ts';
import {
  type OriginLink,
  type OriginPart,
  partNames,
  type RawFrame,
  type TriggerPart,
} from '../../bundle/layout/bundle.ts';
import type { TestOrigin } from '../../bundle/layout/tests.ts';
import { describeRequest, requestIdOf } from '../recording/describe-request.ts';
import type { Origins, RequestOrigin, RequestWatch } from '../recording/request-watch.ts';
import type { CaptureContext, PartProducer } from './part.ts';

const mostRequests = 100;
const mostLinks = 16;

export const originPart: PartProducer = {
  name: partNames.origin,
  produce({ origins, trigger, tests, recording, thrown }): OriginPart | undefined {
    if (!origins) return undefined;
    const { requests } = origins;
    const open = requests.open();
    const { current, lost, maker } = isByCode(trigger) ? readOrigin(origins, thrown?.frames) : {};
    const chain = [...agentLinks(recording?.recorder.within), ...originLinks(current, tests)];
    if (open.length === 0 && chain.length === 0 && requests.count === 0) return undefined;
    const own = [...ancestors(current).filter(isRequest), ...(maker ? [maker] : [])];
    const listed = [...new Set([...own, ...open])];
    const trace = readTrace();
    return {
      followed: requests.isFollowing ? 'context' : 'callback',
      ...(chain.length > 0 && { chain }),
      ...(isByCode(trigger) && chain.length === 0 && lost && { lost }),
      ...(maker && { maker: requestIdOf(maker) }),
      ...(trace && { trace }),
      requests: listed.slice(0, mostRequests).map(describeRequest),
      inFlight: open.length,
      webSockets: open.filter(({ start }) => start?.upgraded).length,
      http2Sessions: new Set(open.flatMap(({ start }) => start?.stream?.session ?? [])).size,
    };
  },
};

/** A signal comes from outside, and a natural end has no originating code. */
export function isByCode({
  kind,
  exitStack,
  stall,
}: Pick<TriggerPart, 'kind' | 'exitStack' | 'stall'>): boolean {
  if (kind === 'uncaught-exception' || kind === 'unhandled-rejection' || kind === 'stall') return true;
  return stall !== undefined || exitStack !== undefined || kind === 'snapshot-call';
}

interface Found {
  current?: Origin;
  lost?: NonNullable<OriginPart['lost']>;
  maker?: RequestOrigin;
}

/** `frames`: of the thrown value. */
export function readOrigin({ causal, requests }: Origins, frames: readonly RawFrame[] = []): Found {
  const resource = asyncHooks().executionAsyncResource() as Resource;
  // Promises that were created before contexts were enabled run in those of others.
  const areAllFollowed = requests.open().every(({ isFollowed }) => isFollowed);
  const current = areAllFollowed ? causal.current : undefined;
  if (!current) return byCallback(resource, requests);
  const request = ancestors(current).find(isRequest);
  const shared = connectionOf(resource);
  // The callbacks of a shared connection run in the context in which it was opened.
  if (shared && !(request && isOwnConnection(request, shared, requests)))
    return byCallback(resource, requests);
  if (request && callsAgain(resource, frames)) {
    const test = ancestors(current).find(({ kind }) => kind === 'test');
    return { ...(test && { current: test }), lost: 'recurring', maker: request };
  }
  return { current };
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
function byCallback(resource: Resource, requests: RequestWatch): Found {
  const isRequests = resource?.constructor?.name === 'HTTPServerAsyncResource';
  const socket = isRequests ? resource.socket : connectionOf(resource);
  const found = socket ? requests.onConnection(socket) : undefined;
  if (found) return { current: found };
  const areFollowed = requests.isFollowing && requests.open().every(({ isFollowed }) => isFollowed);
  if (!areFollowed) return { lost: 'not-followed' };
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
function isRequest(origin: Origin): origin is RequestOrigin {
  return origin.kind === 'request';
}

function ancestors(origin: Origin | undefined): Origin[] {
  const found: Origin[] = [];
  for (let one = origin; one && found.length < mostLinks; one = one.parent) found.push(one);
  return found;
}

function originLinks(origin: Origin | undefined, tests: CaptureContext['tests']): OriginLink[] {
  const links = ancestors(origin).flatMap((one): OriginLink[] =>
    isRequest(one) ? [{ kind: 'request', id: requestIdOf(one) }] : [],
  );
  const test = testOrigin(origin, tests);
  if (test)
    links.push({ kind: 'test', name: test.name, ...(test.file !== undefined && { file: test.file }) });
  return links;
}

/**
 * The test in whose context it is. For a request it is the test that started the server, which is only the right one while
 * that test runs.
 */
export function testOrigin(
  origin: Origin | undefined,
  tests: CaptureContext['tests'],
): TestOrigin | undefined {
  const test = ancestors(origin).find((one) => one.kind === 'test');
  const found = test && tests?.describeOrigin(test);
  return found?.ended && origin !== test ? undefined : found;
}

/** Only from the agent's own context; that a single run is open does not make it the cause. */
function agentLinks(within: (AgentScope & { from: string }) | undefined): OriginLink[] {
  if (within?.from !== 'context') return [];
  return (['tool', 'step', 'run'] as const).flatMap((kind) => {
    const id = within[kind];
    return id === undefined ? [] : [{ kind, id }];
  });
}

interface OpenTelemetry {
  context?: { active?(): { getValue?(key: symbol): { spanContext?(): Partial<SpanContext> } | undefined } };
}
interface SpanContext {
  traceId: unknown;
  spanId: unknown;
}

/** The global of @opentelemetry/api 1.x and the key of its active span, both registered by name. */
function readTrace(): OriginPart['trace'] {
  try {
    const api = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')] as
      | OpenTelemetry
      | undefined;
    const key = Symbol.for('OpenTelemetry Context Key SPAN');
    const { traceId, spanId } = api?.context?.active?.()?.getValue?.(key)?.spanContext?.() ?? {};
    return typeof traceId === 'string' && typeof spanId === 'string' ? { traceId, spanId } : undefined;
  } catch {
    return undefined;
  }
}
