/**
 * Takes the place of the recorded servers: two Unix sockets (for connections with and without TLS) on which recorded
 * replies are given, streams event by event. What the record has no answer to is handed to `onUnanswered`.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSilentServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readTarget } from '../../agent/taps/target.ts';
import type { HttpAnswer } from '../recorded/recorded-http.ts';
import type { RecordedReply, ReplyFormat, ServerEvent } from '../replies/reply.ts';
import type { Answer, Answerer, Given } from './answerer.ts';
import { serveBothProtocols } from './two-protocols.ts';

export interface ServerEvents {
  /** Before a reply is given; it waits for the promise. */
  onReply(answer: Given): Promise<void>;
  /** Everything that is there of a reply was given. */
  onGiven(answer: Given): void;
  /** 'live': the request is sent on to where it was meant for. Else the connection is closed. */
  onUnanswered(answer: Exclude<Answer, Given>, request: string): 'live' | 'close';
  /** The program connects to a server that is not in the recording; it waits. */
  onUnknownServer(address: string): void;
}

export interface ReplayServer {
  close(): void;
}

export async function startReplayServer(
  sockets: { http: string; https: string; unknown: string },
  answerer: Answerer,
  events: ServerEvents,
): Promise<ReplayServer> {
  const unknown = await listenForUnknown(sockets.unknown, events);
  const servers: ReplayServer[] = [];
  for (const scheme of ['http', 'https'] as const)
    servers.push(
      await serveBothProtocols(sockets[scheme], (request, response) => {
        handle(scheme, request, response, answerer, events).catch(() => response.destroy());
      }),
    );
  return {
    close() {
      unknown.close();
      for (const server of servers) server.close();
    },
  };
}

/** The preload says `CONNECT host:port` of a connection that nobody knows; the connection itself stays silent. */
async function listenForUnknown(path: string, { onUnknownServer }: ServerEvents): Promise<ReplayServer> {
  const open = new Set<Socket>();
  const server = createSilentServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      const address = /^CONNECT (\S+)/.exec(chunk.toString('latin1'))?.[1];
      if (address !== undefined) onUnknownServer(address);
    });
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function handle(
  scheme: string,
  request: IncomingMessage,
  response: ServerResponse,
  answerer: Answerer,
  events: ServerEvents,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { method = 'GET', url = '/', headers } = request;
  const origin = `${scheme}://${headers[':authority'] ?? headers.host}`;
  const place = readTarget(origin, url);
  if (!place) return void response.destroy();
  const header = (name: string) => headers[name]?.toString();
  const target = { ...place, header };
  const encoding = headers['content-encoding'];
  const answer = answerer.answer({ method, target, body, encoding });
  if (answer.kind === 'reply' || answer.kind === 'http') {
    await events.onReply(answer);
    if (answer.kind === 'http') giveHttp(answer.answer, response);
    else await give(answer, response);
    events.onGiven(answer);
  } else if (events.onUnanswered(answer, `${method} ${origin}${url}`) === 'live')
    await sendOn(origin + url, request, body, response);
  else response.destroy();
}

async function give(
  { reply, format, isStream }: { reply: RecordedReply; format: ReplyFormat; isStream: boolean },
  response: ServerResponse,
): Promise<void> {
  // Nothing was answered: the connection broke, or the program died while it waited.
  if (reply.status === 0) {
    if (reply.end === 'cut') response.destroy();
    return;
  }
  if (reply.status >= 400) return sendJson(response, reply, format.error(reply));
  if (!isStream) {
    if (reply.end === 'open') return;
    return sendJson(response, reply, format.whole(reply), reply.end === 'cut');
  }
  const { type, encode } = format.stream ?? serverSentEvents;
  response.writeHead(reply.status, { ...reply.headers, 'content-type': type });
  const { events, closing } = format.events(reply);
  for (const event of reply.end === 'whole' ? [...events, ...closing] : events)
    await send(response, encode(event));
  if (reply.end === 'whole') response.end();
  else if (reply.end === 'cut') response.destroy();
}

/** In one piece, however it came then. */
function giveHttp({ status, headers, text, end }: HttpAnswer, response: ServerResponse): void {
  if (status === 0) {
    if (end === 'cut') response.destroy();
    return;
  }
  response.writeHead(status, headers);
  if (end === 'whole') return void response.end(text);
  response.flushHeaders();
  if (text) response.write(text);
  // What was written is handed to the socket in this turn.
  if (end === 'cut') setImmediate(() => response.destroy());
}

/** `isCut`: the connection ends in the middle of the text. */
function sendJson(
  response: ServerResponse,
  { status, headers }: RecordedReply,
  body: unknown,
  isCut = false,
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  if (!isCut) return void response.end(text);
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

const serverSentEvents = {
  type: 'text/event-stream; charset=utf-8',
  encode({ name, data }: ServerEvent): string {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
  },
};

/** Each event is a chunk of its own, in a turn of its own. */
async function send(response: ServerResponse, event: string | Uint8Array): Promise<void> {
  const isTaken = response.write(event);
  if (!isTaken && !response.destroyed) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  await nextTurn();
}

/** Headers that belong to one connection. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'host',
  'content-length',
  'upgrade',
  'expect',
]);

async function sendOn(
  url: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    hopByHop.has(name) || name.startsWith(':') || value === undefined ? [] : [[name, String(value)]],
  );
  const hasBody = body.length > 0;
  const method = request.method ?? 'GET';
  const answer = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  // fetch has undone the encoding already.
  const kept = [...answer.headers].filter(([name]) => !hopByHop.has(name) && name !== 'content-encoding');
  response.writeHead(answer.status, Object.fromEntries(kept));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
