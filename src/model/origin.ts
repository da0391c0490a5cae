/** Describes whose code failed, and the requests that were being processed. Pure. */
import { clip, formatBytes, formatDuration } from './quantities.ts';

export interface RequestAccount {
  id: string;
  protocol?: string;
  method?: string;
  /** Without the values of its query. */
  path?: string;
  /** As the framework names it. */
  route?: string;
  ageMs?: number;
  traceId?: string;
  parentSpanId?: string;
  /** As a proxy or client named it. */
  requestId?: string;
  /** Of an answer that had begun, or was over. */
  status?: number;
  /** It was over so long before. */
  answeredMsBefore?: number;
  connection?: { bytesRead?: number; bytesWritten?: number };
  /** What died was its work, by the asynchronous context. */
  culprit?: true;
}

export interface OriginFacts {
  /** The innermost first. */
  chain?: {
    kind: 'request' | 'run' | 'step' | 'tool' | 'test';
    id?: string;
    name?: string[];
    file?: string;
  }[];
  /** Why no request or test is named. */
  lost?: 'no-context' | 'connection' | 'recurring' | 'not-followed';
  /** The one of `requests` that began what called the failing code back, where that calls more than once. */
  maker?: string;
  /** Of a tracer's active span. */
  trace?: { traceId: string; spanId: string };
  inFlight?: number;
  webSockets?: number;
  http2Sessions?: number;
  /**
   * The process could not say it at its end: the requests and their ages are those that its recorder had written down then,
   * without the quickest. `beforeEndMs` where the end was seen.
   */
  lastSeen?: { at: string; beforeEndMs?: number };
}

/** `GET /orders/17`, without the query, or as much as is known. */
export function requestName({ method, path, protocol, id }: RequestAccount): string {
  const what = protocol === 'websocket' ? 'WebSocket' : method;
  return [what, path?.split('?')[0] ?? (what === undefined ? `request ${id}` : undefined)]
    .filter(Boolean)
    .join(' ');
}

const longestName = 80;

/** `GET /orders/17 (route /orders/:id), for 1.2 s, 178 bytes in and 0 bytes out on its connection`. */
export function requestText(request: RequestAccount): string {
  const { route, path } = request;
  const isRouteNews = route !== undefined && route !== path?.split('?')[0];
  const name = `${clip(requestName(request), longestName)}${isRouteNews ? ` (route ${clip(route, longestName)})` : ''}`;
  return [name, ...requestFacts(request)].join(', ');
}

/** All but its name and route. */
function requestFacts(request: RequestAccount): string[] {
  const { ageMs, answeredMsBefore, status, connection, requestId, traceId } = request;
  const answered = answeredMsBefore !== undefined;
  const facts = [
    answered &&
      `answered ${status === undefined ? '' : `${status} `}${formatDuration(answeredMsBefore)} before`,
    !answered && ageMs !== undefined && `for ${formatDuration(ageMs)}`,
    !answered && status !== undefined && `${status} sent`,
    !answered && connection && connectionText(connection),
    requestId !== undefined && `request id ${clip(requestId, longestName)}`,
    traceId !== undefined && `trace ${clip(traceId, longestName)}`,
  ];
  return facts.filter((fact) => typeof fact === 'string');
}

/** Earlier requests may have used the same connection. */
function connectionText({
  bytesRead = 0,
  bytesWritten = 0,
}: NonNullable<RequestAccount['connection']>): string {
  return `${formatBytes(bytesRead)} in and ${formatBytes(bytesWritten)} out on its connection`;
}
