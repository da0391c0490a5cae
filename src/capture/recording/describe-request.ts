/** Describes a request for a bundle: no body, no headers but its ids, no values of its query. */
import type { RequestFacts } from '../../bundle/layout/bundle.ts';
import { type RequestOrigin, routeOf, urlOf } from './request-watch.ts';

const idHeaders = [
  'x-request-id',
  'x-correlation-id',
  'request-id',
  'x-amzn-trace-id',
  'x-amz-cf-id',
  'cf-ray',
];
const longest = 2_000;
const { now } = Date;

export function requestIdOf({ number }: RequestOrigin): string {
  return `r${number}`;
}

/** `atMs`: when its age is told, which is the death rather than now. */
export function describeRequest(origin: RequestOrigin, atMs = now()): RequestFacts {
  const { start, over, startedMs } = origin;
  const { request, response, stream, upgraded } = start ?? {};
  const headers = headersOf(start ? (request?.rawHeaders ?? start.headers) : over?.headers);
  const method = request?.method ?? over?.method ?? headers.get(':method');
  const url = urlOf(request) ?? over?.url ?? headers.get(':path');
  const route = origin.route ?? routeOf(request);
  const socket = upgraded ?? request?.socket ?? stream?.session?.socket;
  const status = response?.headersSent ? response.statusCode : stream?.sentHeaders?.[':status'];
  const requestId = idHeaders.map((name) => headers.get(name)).find((value) => value !== undefined);
  return {
    id: requestIdOf(origin),
    protocol: protocolOf(origin, headers),
    ...(method !== undefined && { method }),
    ...(url !== undefined && { path: withoutValues(url) }),
    ...(route !== undefined && { route }),
    ageMs: Math.max(0, (over?.atMs ?? atMs) - startedMs),
    ...(over && {
      answered: {
        beforeMs: Math.max(0, atMs - over.atMs),
        ...(over.status !== undefined && { status: over.status }),
      },
    }),
    ...(typeof status === 'number' && { status }),
    ...(socket && { connection: { bytesRead: socket.bytesRead, bytesWritten: socket.bytesWritten } }),
    ...(requestId !== undefined && { requestId }),
    ...parentOf(headers.get('traceparent')),
  };
}

/** `rawHeaders` of node:http, or the object of node:http2; the first value of each. */
function headersOf(headers: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: unknown, value: unknown): void => {
    const key = String(name).toLowerCase();
    if (typeof value === 'string' && !found.has(key)) found.set(key, value.slice(0, longest));
  };
  if (Array.isArray(headers))
    for (let at = 0; at + 1 < headers.length; at += 2) add(headers[at], headers[at + 1]);
  else for (const [name, value] of Object.entries(headers ?? {})) add(name, value);
  return found;
}

function protocolOf({ start }: RequestOrigin, headers: Map<string, string>): RequestFacts['protocol'] {
  if (start?.upgraded || headers.get('upgrade')?.toLowerCase() === 'websocket') return 'websocket';
  if (start?.stream || headers.has(':method')) return 'http2';
  return (start?.request?.socket as { encrypted?: boolean } | undefined)?.encrypted === true
    ? 'https'
    : 'http';
}

/** `/orders?token=…&page=…`: the names of the parameters, without their values. */
function withoutValues(url: string): string {
  const [path = '', query] = url.slice(0, longest).split('?', 2);
  if (query === undefined) return path;
  const names = query
    .split('&')
    .map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('='))}=…` : '…'));
  return `${path}?${names.join('&')}`;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function parentOf(header: string | undefined): Pick<RequestFacts, 'traceId' | 'parentSpanId'> {
  const [, traceId, parentSpanId] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/.exec(header ?? '') ?? [];
  return traceId === undefined || parentSpanId === undefined ? {} : { traceId, parentSpanId };
}
