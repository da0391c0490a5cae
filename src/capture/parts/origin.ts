/**
 * `origin.json`: the asynchronous context in which the program dies, read now, and the requests in flight. What the context
 * does not contain is not guessed from what runs at the same time.
 */

import type { Origin } from '../../agent/record/causal-context.ts';
import type { AgentScope } from '../../agent/record/scope.ts';
import { type OriginLink, type OriginPart, partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { describeRequest, requestIdOf } from '../recording/describe-request.ts';
import { ancestors, isRequest, readOrigin } from '../recording/read-origin.ts';
import type { CaptureContext, PartProducer } from './part.ts';

const mostRequests = 100;

export const originPart: PartProducer = {
  name: partNames.origin,
  produce({ origins, trigger, tests, recording, thrown }): OriginPart | undefined {
    if (!origins) return undefined;
    const { requests } = origins;
    const open = requests.open();
    const { current, lost, maker } = isByCode(trigger) ? readOrigin(origins, thrown?.frames) : {};
    const chain = [...agentLinks(recording?.recorder.within), ...originLinks(current, tests, trigger)];
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
      requests: listed.slice(0, mostRequests).map((one) => describeRequest(one, Date.parse(trigger.at))),
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

function originLinks(
  origin: Origin | undefined,
  tests: CaptureContext['tests'],
  trigger: TriggerPart,
): OriginLink[] {
  const links = ancestors(origin).flatMap((one): OriginLink[] =>
    isRequest(one) ? [{ kind: 'request', id: requestIdOf(one) }] : [],
  );
  const test = origin && tests?.describeOrigin(origin, Date.parse(trigger.at));
  if (test)
    links.push({ kind: 'test', name: test.name, ...(test.file !== undefined && { file: test.file }) });
  return links;
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
