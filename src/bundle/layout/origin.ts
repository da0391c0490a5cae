/**
 * `origin.json`: whose work the failing code was doing, according to its async context, and which requests were in flight.
 */

export interface OriginPart {
  /**
   * `context`: a request is tracked through timers, promises and emitters. `callback`: only in the callback that is called
   * with the request (Node 20 and 22, where tracking has a cost for every promise).
   */
  followed: 'context' | 'callback';
  /** Innermost first; absent if it is not known, or if the event has no cause in the program (a signal). */
  chain?: OriginLink[];
  /**
   * Why it is not known. `connection`: the context was that of a shared connection, and named the request that opened it.
   * `recurring`: the same with a timer, port or watcher that calls more than once.
   */
  lost?: 'no-context' | 'connection' | 'recurring' | 'not-followed';
  /** With `recurring`: the one of `requests` that opened or started it. */
  maker?: string;
  /** From the active span of a tracer (OpenTelemetry). */
  trace?: { traceId: string; spanId: string };
  /** The request of the chain first, then those in flight, the oldest first. */
  requests: RequestFacts[];
  /** The number of requests in flight; not all are listed if there are very many. */
  inFlight: number;
  webSockets: number;
  http2Sessions: number;
}

/** `id`: of a request in `requests`, otherwise of an entry of the agent's recorder. */
export type OriginLink =
  | { kind: 'request' | 'run' | 'step' | 'tool'; id: string }
  | { kind: 'test'; name: string[]; file?: string };

/** Durations in milliseconds. */
export interface RequestFacts {
  id: string;
  protocol: 'http' | 'https' | 'http2' | 'websocket';
  method?: string;
  /** Without the values of the query, but with its names. */
  path?: string;
  /** As the framework calls it: `/orders/:id`. */
  route?: string;
  ageMs: number;
  /** For a request that had been answered when its work failed: how long before, and with which status. */
  answered?: { beforeMs: number; status?: number };
  /** Present once the response has begun. */
  status?: number;
  /** Totals of the connection, which may have served other requests before. */
  connection?: { bytesRead: number; bytesWritten: number };
  /** As set by a proxy or client (`x-request-id` and similar headers). */
  requestId?: string;
  /** From the header `traceparent`. */
  traceId?: string;
  parentSpanId?: string;
}
