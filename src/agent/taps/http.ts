/**
 * Observes the requests of `node:http` and `node:https` clients. Channels provide the request and response objects. The
 * bodies pass through methods of those objects, which are shadowed on the individual object (`write` and `end`, `push` and
 * `_destroy`): no listener is added, and no stream is switched to flowing mode. Before Node 22.12 no channel reports a
 * request when it is created, so the methods of the class are wrapped once the module is in use; there the body of the first
 * request by https may be missed. Seen on Node 20.20, 22.23, 24.21, 26.10.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Exchange, ExchangeStart, HeaderLookup } from '../http/exchange.ts';
import { openDescribed, readsBody } from '../http/open-exchange.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { failedRequest } from './begin-sites.ts';
import { listenTo, type Tap } from './channels.ts';
import { guarded } from './guard.ts';
import { seePushed } from './pushed.ts';
import { defineMethod, shadowFirst } from './shadow.ts';
import { readTarget } from './target.ts';

interface Message {
  request: ClientRequest;
  response: IncomingMessage;
  error: unknown;
}

type Method = (...args: unknown[]) => unknown;
type Writing = 'write' | 'end';

/** `http.client.request.created` was added in Node 22.12. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasCreatedChannel = major > 22 || (major === 22 && minor >= 12);

/** Starts recording. */
export function tapHttp(recorder: AgentRecorder): Tap {
  const tap = new HttpTap(recorder);
  const listeners: Record<string, (message: Message) => void> = {
    'http.client.request.created': ({ request }) => tap.shadowRequest(request),
    'http.client.request.start': ({ request }) => tap.sent(request),
    'http.client.request.error': ({ request, error }) => tap.exchangeOf(request)?.fail(error),
    'http.client.response.finish': ({ request, response }) => tap.answered(request, response),
    'net.client.socket': () => tap.wrapClass(),
  };
  const { hear, undo } = listenTo('', listeners);
  return {
    hear,
    undo() {
      undo();
      tap.undo();
    },
  };
}

class HttpTap {
  readonly #recorder: AgentRecorder;
  readonly #exchanges = new WeakMap<ClientRequest, Exchange>();
  #undoClass: (() => void) | undefined;

  constructor(recorder: AgentRecorder) {
    this.#recorder = recorder;
  }

  exchangeOf(request: ClientRequest): Exchange | undefined {
    return this.#exchanges.get(request);
  }

  shadowRequest(request: ClientRequest): void {
    if (!this.#readsBody(request)) return;
    for (const name of ['write', 'end'] as const)
      shadowFirst(request, name, (chunk, encoding) => this.#wrote(request, chunk, encoding));
  }

  /** Before Node 22.12: wraps the methods of the class once the program has loaded `node:http`. */
  wrapClass(): void {
    if (hasCreatedChannel || this.#undoClass || !isHttpLoaded()) return;
    const http = process.getBuiltinModule('node:http');
    const { prototype } = http.ClientRequest;
    const undo = (['write', 'end'] as const).map((name) => this.#wrapMethod(prototype, name));
    this.#undoClass = () => {
      for (const one of undo) one();
    };
  }

  /** The whole request has been written by the program. */
  sent(request: ClientRequest): void {
    this.wrapClass();
    this.#open(request)?.requestSent();
  }

  answered(request: ClientRequest, response: IncomingMessage): void {
    // A request that was sent without being observed is not recorded.
    const isSent = request.writableEnded;
    const exchange = isSent ? this.exchangeOf(request) : this.#open(request);
    if (!exchange) return;
    exchange.responseHead(response.statusCode ?? 0, responseHeader(response));
    let isComplete = false;
    seePushed(response, (chunk) => {
      if (chunk !== null) return exchange.responseChunk(chunk);
      isComplete = true;
      exchange.end();
    });
    shadowFirst(response, '_destroy', (error) => {
      if (isComplete) return;
      exchange.fail(error ?? new Error('closed before the end'));
      failedRequest(this.#recorder.sites, request, error);
    });
  }

  undo(): void {
    this.#undoClass?.();
  }

  #wrapMethod(prototype: ClientRequest, name: Writing): () => void {
    const original = prototype[name] as Method;
    const observe = guarded((request: ClientRequest, chunk: unknown, encoding: unknown) =>
      this.#wrote(request, chunk, encoding),
    );
    defineMethod(prototype, name, function (this: ClientRequest, ...args: unknown[]) {
      // Most requests have no body: `end()`, `end(callback)`.
      if (args[0] !== undefined && typeof args[0] !== 'function') observe(this, args[0], args[1]);
      return Reflect.apply(original, this, args);
    });
    return () => void Reflect.deleteProperty(prototype, name);
  }

  #wrote(request: ClientRequest, chunk: unknown, encoding: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    if (!hasCreatedChannel && !this.#readsBody(request)) return;
    const isEncoded = typeof chunk === 'string' && typeof encoding === 'string' && !isUtf8(encoding);
    this.#open(request)?.requestChunk(isEncoded ? Buffer.from(chunk, encoding as BufferEncoding) : chunk);
  }

  /**
   * The recording of a request, created at the first piece of its body that is read, or at its end. Undefined if the request
   * is not recorded.
   */
  #open(request: ClientRequest): Exchange | undefined {
    let exchange = this.#exchanges.get(request);
    if (exchange) return exchange;
    exchange = openDescribed(this.#recorder, request.method, () => describe(request));
    if (exchange) this.#exchanges.set(request, exchange);
    return exchange;
  }

  #readsBody(request: ClientRequest): boolean {
    if (request.method !== 'POST' && this.#recorder.httpLevel !== 'content') return false;
    const start = describe(request);
    return start !== undefined && readsBody(this.#recorder, start);
  }
}

function isHttpLoaded(): boolean {
  const { moduleLoadList } = process as unknown as { moduleLoadList?: string[] };
  return moduleLoadList?.includes('NativeModule _http_client') ?? false;
}

const isUtf8 = (encoding: string) => /^utf-?8$/i.test(encoding);

function describe(request: ClientRequest): ExchangeStart | undefined {
  const target = readTarget(originOf(request), request.path);
  return target && { source: 'http', method: request.method, header: requestHeader(request), ...target };
}

function originOf(request: ClientRequest): string {
  const { host, protocol } = request;
  const authority = String(request.getHeader('host') ?? host);
  return `${protocol}//${authority}`;
}

function requestHeader(request: ClientRequest): HeaderLookup {
  return (name) => {
    const value = request.getHeader(name);
    return value === undefined ? undefined : String(value);
  };
}

function responseHeader(response: IncomingMessage): HeaderLookup {
  return (name) => {
    const value = response.headers[name];
    return value === undefined ? undefined : String(value);
  };
}
