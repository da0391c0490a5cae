/**
 * The requests that this thread's servers are answering: received from the channels of node:http and node:http2, kept until
 * they are answered, and used as the context of everything that they start. Nothing is added to the host's requests,
 * responses or sockets. On Node 20 and 22 a context slows down each promise, so there it is only entered if the host already
 * uses one, or if AGENTDUMP_CONTEXT asks for it; the list of requests is always kept.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { type CausalContext, isContextFree, type Origin } from '../../agent/record/causal-context.ts';
import { guarded } from '../../agent/taps/guard.ts';
import type { Config } from '../install/config.ts';
import { watchUpgrades } from './upgrade-watch.ts';

/** The contents of a channel's message about a request, by protocol. */
export interface RequestStart {
  request?: IncomingMessage;
  response?: ServerResponse;
  stream?: ServerHttp2Stream;
  headers?: Record<string, unknown>;
  /** For a WebSocket, or another connection that left HTTP. */
  upgraded?: Socket;
}

export class RequestOrigin implements Origin {
  readonly kind = 'request';
  readonly number: number;
  readonly startedMs = now();
  readonly parent: Origin | undefined;
  /** Whether what it starts is followed. */
  readonly isFollowed: boolean;
  /** Released when the request is answered, because a context may live much longer than its request. */
  start: RequestStart | undefined;
  /** The route that its framework reports. */
  route: string | undefined;
  /** What is kept of a request that is over. Written without spreads, which took longer than everything else here. */
  over: Over | undefined;
  /** Its place in the list of open requests; what it is found by. */
  key: object | undefined;
  older: RequestOrigin | undefined;
  newer: RequestOrigin | undefined;

  constructor(number: number, start: RequestStart, isFollowed: boolean, parent?: Origin) {
    this.number = number;
    this.start = start;
    this.isFollowed = isFollowed;
    this.parent = parent;
  }

  end(): void {
    if (!this.start) return;
    const { request, response, stream, headers } = this.start;
    this.route ??= routeOf(request);
    const status = response?.statusCode ?? stream?.sentHeaders?.[':status'];
    this.over = {
      method: textOf(request?.method ?? headers?.[':method']),
      url: textOf(urlOf(request) ?? headers?.[':path']),
      status: typeof status === 'number' ? status : undefined,
      headers: request?.rawHeaders ?? headers,
      atMs: now(),
    };
    this.start = undefined;
  }
}

interface Over {
  method: string | undefined;
  url: string | undefined;
  status: number | undefined;
  headers: unknown;
  atMs: number;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * The requests that are not answered yet, in the order in which they began. Not a Map: whenever V8 gives one a new table, the former table
 * keeps what it held and refers to the new one. Once one of them is in V8's old generation, all that later ones held survives until the
 * whole heap is collected: a busy server's requests, which would otherwise die young, with everything that they refer to. What has left
 * this list refers to nothing in it. A WeakMap has no such flaw, but takes four times as long as everything else here.
 */
class OpenList {
  oldest: RequestOrigin | undefined;
  newest: RequestOrigin | undefined;

  /** Looks from both ends: requests are answered soon, or in the order in which they began. */
  get(key: object): RequestOrigin | undefined {
    let { oldest, newest } = this;
    while (oldest && newest && newest.key !== key) {
      if (oldest.key === key) return oldest;
      newest = newest.older;
      oldest = oldest.newer;
    }
    return newest;
  }

  add(key: object, origin: RequestOrigin): void {
    const { newest } = this;
    origin.older = newest;
    if (newest) newest.newer = origin;
    else this.oldest = origin;
    this.newest = origin;
    origin.key = key;
  }

  /** Once for each. */
  end(origin: RequestOrigin): void {
    const { older, newer } = origin;
    if (older) older.newer = newer;
    else this.oldest = newer;
    if (newer) newer.older = older;
    else this.newest = older;
    origin.older = undefined;
    origin.newer = undefined;
    origin.key = undefined;
    origin.end();
  }
}

/** As it was before a test replaced it with a clock of its own. */
const { now } = Date;
/** After this many requests, those that ended without an answer are removed. */
const sweepEvery = 64;

/** Finds the work to which the running code belongs. */
export interface Origins {
  causal: CausalContext;
  requests: RequestWatch;
}

export interface RequestWatch {
  /** Not yet answered, in the order in which they began. */
  open(): RequestOrigin[];
  /** The newest request on this connection, unless it was answered; the client may have disconnected. */
  onConnection(socket: unknown): RequestOrigin | undefined;
  /** Whether this client's connection was opened in another context than `origin`; undefined if that was not seen. */
  isOpenedElsewhere(socket: object, origin: Origin): boolean | undefined;
  /** Number of requests so far. */
  readonly count: number;
  /** Whether what a request starts is followed. */
  readonly isFollowing: boolean;
  /** Whether all open requests are followed. */
  readonly areAllFollowed: boolean;
  undo(): void;
}

export function watchRequests({ context }: Pick<Config, 'context'>, causal: CausalContext): RequestWatch {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const open = new OpenList();
  /** Connections whose clients have gone before their request was answered. */
  const abandoned = new WeakMap<object, RequestOrigin>();
  /** In whose context a connection to another server was opened. */
  const openers = new WeakMap<object, Origin | 'nobody'>();
  let count = 0;
  let isFollowing = false;
  const mayFollow = (): boolean => {
    isFollowing ||= context === 'always' || (context === 'auto' && (causal.isArmed || isContextFree()));
    return isFollowing;
  };
  const parentOf = (socket: Socket | undefined): Origin | undefined => {
    const owner = aroundServer(causal.current);
    return causal.testOfRequest ? causal.testOfRequest(socket, owner) : owner;
  };
  const begin = (key: object, start: RequestStart): RequestOrigin => {
    if (++count % sweepEvery === 0) sweep();
    const isFollowed = mayFollow();
    const socket = socketOf(start);
    const origin = new RequestOrigin(count, start, isFollowed, isFollowed ? parentOf(socket) : undefined);
    open.add(key, origin);
    if (isFollowed) causal.enter(origin);
    return origin;
  };
  const end = (key: object): void => {
    const origin = open.get(key);
    if (origin) open.end(origin);
  };
  const abandon = (origin: RequestOrigin): void => {
    const socket = socketOf(origin.start);
    if (socket && origin.start?.response?.writableFinished !== true) abandoned.set(socket, origin);
    open.end(origin);
  };
  const sweep = (): void => {
    for (let origin = open.oldest; origin; ) {
      const { newer } = origin;
      if (!isOpen(origin)) abandon(origin);
      origin = newer;
    }
  };
  const undoUpgrades = watchUpgrades({
    begin: (socket, request) => begin(socket, { request, upgraded: socket }),
    next: (origin) => {
      if (origin.start && mayFollow()) causal.enter(origin);
    },
    end: (origin) => {
      if (origin.start) open.end(origin);
    },
    beginStream: (stream, headers) => void begin(stream, { stream, headers }),
    endStream: end,
  });
  const listeners: Record<string, (message: never) => void> = {
    'http.server.request.start': ({ request, response }: Required<RequestStart>) =>
      begin(response, { request, response }),
    'http.server.response.finish': ({ response }: Required<RequestStart>) => end(response),
    'http2.server.stream.start': ({ stream, headers }: Required<RequestStart>) =>
      begin(stream, { stream, headers }),
    'http2.server.stream.close': ({ stream }: Required<RequestStart>) => end(stream),
    'net.client.socket': ({ socket }: { socket: Socket }) => {
      openers.set(socket, causal.current ?? 'nobody');
    },
    'tracing:fastify.request.handler:start': (message: FastifyMessage) => {
      const origin = message.reply?.raw && open.get(message.reply.raw);
      if (origin && typeof message.route?.url === 'string') origin.route = message.route.url;
    },
  };
  const heard = Object.entries(listeners).map(
    ([name, listener]) => [name, guarded(listener) as (message: unknown) => void] as const,
  );
  for (const [name, listener] of heard) subscribe(name, listener);
  return {
    open: () => {
      sweep();
      const found: RequestOrigin[] = [];
      for (let origin = open.oldest; origin; origin = origin.newer) found[found.length] = origin;
      return found;
    },
    onConnection(socket) {
      if (typeof socket !== 'object' || socket === null) return undefined;
      let origin = open.newest;
      while (origin && socketOf(origin.start) !== socket) origin = origin.older;
      return origin ?? abandoned.get(socket);
    },
    isOpenedElsewhere(socket, origin) {
      const opener = openers.get(socket);
      return opener && opener !== origin;
    },
    get count() {
      return count;
    },
    get isFollowing() {
      return isFollowing;
    },
    get areAllFollowed() {
      // Once requests are followed, all later ones are, so that the oldest decides.
      while (open.oldest && !isOpen(open.oldest)) abandon(open.oldest);
      return open.oldest?.isFollowed ?? true;
    },
    undo() {
      for (const [name, listener] of heard) unsubscribe(name, listener);
      undoUpgrades();
    },
  };
}

/**
 * The origin that started the server. For a kept-alive connection Node 20 and 22 keep the context of the last request, which
 * did not start the next one; each request would keep all earlier ones alive.
 */
function aroundServer(current: Origin | undefined): Origin | undefined {
  let found = current;
  while (found?.kind === 'request') found = found.parent;
  return found;
}

/** The connection, if it belongs to this request alone while it is being answered; HTTP/2 streams share theirs. */
function socketOf({ upgraded, request }: RequestStart = {}): Socket | undefined {
  return upgraded ?? request?.socket ?? undefined;
}

interface FastifyMessage {
  reply?: { raw?: object };
  route?: { url?: unknown };
}

function isOpen({ start }: RequestOrigin): boolean {
  const { response, stream, upgraded } = start ?? {};
  return response ? !response.writableFinished && !response.destroyed : !(stream ?? upgraded)?.destroyed;
}

export function urlOf(request: IncomingMessage | undefined): string | undefined {
  // Frameworks with nested routers change `url` meanwhile.
  const { originalUrl } = (request ?? {}) as { originalUrl?: unknown };
  return typeof originalUrl === 'string' ? originalUrl : request?.url;
}

/** The properties that Express and Next set on the request. */
export function routeOf(request: IncomingMessage | undefined): string | undefined {
  const { baseUrl, route } = (request ?? {}) as { baseUrl?: unknown; route?: { path?: unknown } };
  if (typeof route?.path === 'string') return `${typeof baseUrl === 'string' ? baseUrl : ''}${route.path}`;
  const next = (request as unknown as Record<symbol, NextMeta> | undefined)?.[nextMeta];
  const page = next?.match?.definition?.pathname;
  return typeof page === 'string' ? page : undefined;
}

const nextMeta = Symbol.for('NextInternalRequestMeta');
interface NextMeta {
  match?: { definition?: { pathname?: unknown } };
}
