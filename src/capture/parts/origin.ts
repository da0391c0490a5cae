/**
 * `origin.json`: in whose asynchronous context the program dies, read now, and the requests in flight. What the context
 * does not say is not guessed from what runs at the same time.
 */

import { asyncHooks } from '../../agent/node-modules.ts';
import type { Origin } from '../../agent/record/causal-context.ts';
import type { AgentScope } from '../../agent/record/scope.ts';
import { type OriginLink, type OriginPart, partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import type { TestOrigin } from '../../bundle/layout/tests.ts';
import { describeRequest, requestIdOf } from '../recording/describe-request.ts';
import type { Origins, RequestOrigin, RequestWatch } from '../recording/request-watch.ts';
import type { CaptureContext, PartProducer } from './part.ts';

const mostRequests = 100;
const mostLinks = 16;

export const originPart: PartProducer = {
  name: partNames.origin,
  produce({ origins, trigger, tests, recording }): OriginPart | undefined {
    if (!origins) return undefined;
    const { requests } = origins;
    const open = requests.open();
    const { current, lost } = isByCode(trigger) ? readOrigin(origins) : {};
    const chain = [...agentLinks(recording?.recorder.within), ...originLinks(current, tests)];
    if (open.length === 0 && chain.length === 0 && requests.count === 0) return undefined;
    const own = ancestors(current).filter(isRequest);
    const listed = [...new Set([...own, ...open])];
    const trace = readTrace();
    return {
      followed: requests.isFollowing ? 'context' : 'callback',
      ...(chain.length > 0 && { chain }),
      ...(isByCode(trigger) && chain.length === 0 && lost && { lost }),
      ...(trace && { trace }),
      requests: listed.slice(0, mostRequests).map(describeRequest),
      inFlight: open.length,
      webSockets: open.filter(({ start }) => start?.upgraded).length,
      http2Sessions: new Set(open.flatMap(({ start }) => start?.stream?.session ?? [])).size,
    };
  },
};

/** A signal comes from outside, and a natural end from nobody. */
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
}

export function readOrigin({ causal, requests }: Origins): Found {
  const resource = asyncHooks().executionAsyncResource() as Resource;
  // Promises that were there before contexts were carry those of others.
  const areAllFollowed = requests.open().every(({ isFollowed }) => isFollowed);
  const current = areAllFollowed ? causal.current : undefined;
  if (!current) return byCallback(resource, requests);
  const request = ancestors(current).find(isRequest);
  const shared = connectionOf(resource);
  // Its callbacks run in the context of whoever opened it.
  if (shared && !(request && isOwnConnection(request, shared))) return { lost: 'connection' };
  return { current };
}

interface Resource {
  /** Of Node's own resource for the requests of a connection. */
  socket?: unknown;
  constructor?: { name?: string };
}

/** Without a context the running callback may still be that of one connection's requests. */
function byCallback(resource: Resource, requests: RequestWatch): Found {
  const isRequests = resource?.constructor?.name === 'HTTPServerAsyncResource';
  const socket = isRequests ? resource.socket : connectionOf(resource);
  const found = socket ? requests.onConnection(socket) : undefined;
  if (found) return { current: found };
  const areFollowed = requests.isFollowing && requests.open().every(({ isFollowed }) => isFollowed);
  return { lost: areFollowed ? 'no-context' : 'not-followed' };
}

/** The socket whose bytes are being handed over, where that is what runs. */
function connectionOf(resource: Resource): object | undefined {
  if (!/^(?:TCP|Pipe|TLSWrap)$/.test(resource?.constructor?.name ?? '')) return undefined;
  const owner = Object.getOwnPropertySymbols(resource).find(
    ({ description }) => description === 'owner_symbol',
  );
  const found = owner && (resource as Record<symbol, unknown>)[owner];
  return typeof found === 'object' && found !== null ? found : undefined;
}

function isOwnConnection({ start }: RequestOrigin, socket: object): boolean {
  const { request, stream, upgraded } = start ?? {};
  return (upgraded ?? request?.socket ?? stream?.session?.socket) === socket;
}

/** By its kind, because this half has a class of its own. */
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
 * The test in whose context it is. Of a request: that of whoever started the server, which is the right one only as
 * long as that test runs.
 */
export function testOrigin(
  origin: Origin | undefined,
  tests: CaptureContext['tests'],
): TestOrigin | undefined {
  const test = ancestors(origin).find((one) => one.kind === 'test');
  const found = test && tests?.describeOrigin(test);
  return found?.ended && origin !== test ? undefined : found;
}

/** By their own context; that there is only one run open is no cause. */
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
