/**
 * Observes every request made by undici (Node's own fetch, and the npm package) through `node:diagnostics_channel`. Since
 * undici 7 (Node 24) channels carry the bytes of the bodies. In older versions `undici:request:create` provides the request
 * object, whose methods the connection calls with the same bytes; they are shadowed on that one object. fetch itself is never
 * touched. Seen in undici 6.24, 6.28, 7.29, 8.10 (Node 20.20, 22.23, 24.21, 26.10).
 */
import type { Exchange, HeaderLookup } from '../http/exchange.ts';
import { openDescribed } from '../http/open-exchange.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { pathOnly } from './begin-sites.ts';
import { listenTo, type Tap } from './channels.ts';
import { shadowFirst } from './shadow.ts';
import { readTarget } from './target.ts';

/** The parts of undici's request object that are read here. */
interface UndiciRequest {
  method: string;
  origin: unknown;
  path: string;
  headers: unknown;
  body?: unknown;
  [method: string]: unknown;
}

interface Message {
  request: UndiciRequest;
  chunk: Uint8Array | string;
  response: { statusCode: number; headers: unknown };
  error: unknown;
}

/** Starts recording. */
export function tapUndici(recorder: AgentRecorder): Tap {
  const exchanges = new WeakMap<UndiciRequest, Exchange>();
  const find = (request: UndiciRequest) => exchanges.get(request);
  const listeners: Record<string, (message: Message) => void> = {
    create({ request }) {
      const exchange = open(recorder, request);
      if (!exchange) return;
      exchanges.set(request, exchange);
      recorder.sites.begin(request, 'request');
      if (!hasBodyChannels(request)) shadowMethods(request, exchange);
    },
    bodyChunkSent: ({ request, chunk }) => find(request)?.requestChunk(chunk),
    bodySent: ({ request }) => find(request)?.requestSent(),
    headers: ({ request, response }) =>
      find(request)?.responseHead(response.statusCode, headerList(response.headers)),
    bodyChunkReceived: ({ request, chunk }) => find(request)?.responseChunk(chunk as Uint8Array),
    trailers: ({ request }) => find(request)?.end(),
    error({ request, error }) {
      find(request)?.fail(error);
      recorder.sites.failed(
        request,
        error,
        `request ${request.method} ${hostOf(request)}${pathOnly(request.path)}`,
      );
    },
  };
  return listenTo('undici:request:', listeners);
}

const hostOf = ({ origin }: UndiciRequest): string => String(origin).replace(/^\w+:\/\//, '');

function open(recorder: AgentRecorder, request: UndiciRequest): Exchange | undefined {
  return openDescribed(recorder, request.method, () => {
    const target = readTarget(String(request.origin), request.path);
    const header = headerList(request.headers);
    return target && { source: 'undici', method: request.method, header, ...target };
  });
}

/**
 * Whether this undici publishes the chunks of bodies. A program may use several versions at the same time, and a request does
 * not contain its version, so the source text of its class is inspected once.
 */
function hasBodyChannels(request: UndiciRequest): boolean {
  const prototype = Object.getPrototypeOf(request) as object;
  let known = bodyChannels.get(prototype);
  if (known === undefined) {
    known = String(request['onBodySent']).includes('bodyChunkSent');
    bodyChannels.set(prototype, known);
  }
  return known;
}
const bodyChannels = new WeakMap<object, boolean>();

function shadowMethods(request: UndiciRequest, exchange: Exchange): void {
  shadowFirst(request, 'onBodySent', (chunk) => exchange.requestChunk(chunk as Uint8Array));
  shadowFirst(request, 'onData', (chunk) => exchange.responseChunk(chunk as Uint8Array));
}

/**
 * Looks up headers in undici's formats: a list of alternating names and values, as texts or bytes, or (undici 5) one text.
 */
function headerList(headers: unknown): HeaderLookup {
  const list: unknown[] =
    typeof headers === 'string' ? splitLines(headers) : Array.isArray(headers) ? headers : [];
  return (name) => {
    for (let i = 0; i + 1 < list.length; i += 2) {
      const other = String(list[i]);
      if (other.length === name.length && other.toLowerCase() === name) return String(list[i + 1]);
    }
    return undefined;
  };
}

function splitLines(headers: string): string[] {
  return headers.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(':');
    return colon === -1 ? [] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}
