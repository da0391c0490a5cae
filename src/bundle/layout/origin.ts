/** `origin.json`: whose work the code was that died, by its asynchronous context, and which requests were being answered. */

export interface OriginPart {
  /**
   * `context`: what a request starts is followed through timers, promises and emitters. `callback`: only the callback
   * that the request itself is handed to (Node 20 and 22, where following costs each promise).
   */
  followed: 'context' | 'callback';
  /** The innermost first; absent where it is not known, or where the event has no cause in the program (a signal). */
  chain?: OriginLink[];
  /** Why it is not known. `connection`: a shared connection handed it on, and named who had opened it. */
  lost?: 'no-context' | 'connection' | 'not-followed';
  /** Of a tracer's active span (OpenTelemetry). */
  trace?: { traceId: string; spanId: string };
  /** The one of the chain first, then those in flight, the oldest first. */
  requests: RequestFacts[];
  /** How many were in flight; more than are listed where there were very many. */
  inFlight: number;
  webSockets: number;
  http2Sessions: number;
}

/** `id`: of a request in `requests`, else of the agent's recorder. */
export type OriginLink =
  | { kind: 'request' | 'run' | 'step' | 'tool'; id: string }
  | { kind: 'test'; name: string[]; file?: string };

/** Times in milliseconds. */
export interface RequestFacts {
  id: string;
  protocol: 'http' | 'https' | 'http2' | 'websocket';
  method?: string;
  /** The values of the query are left out, its names are not. */
  path?: string;
  /** As the framework names it: `/orders/:id`. */
  route?: string;
  ageMs: number;
  /** Of one that was over when its work died: for how long, and with which status. */
  answered?: { beforeMs: number; status?: number };
  /** The answer had begun. */
  status?: number;
  /** Of the whole connection, which may have served others before. */
  connection?: { bytesRead: number; bytesWritten: number };
  /** As a proxy or client named it (`x-request-id` and its like). */
  requestId?: string;
  /** Of the header `traceparent`. */
  traceId?: string;
  parentSpanId?: string;
}
