/**
 * Takes the place of the recorded servers: two Unix sockets (for connections with and without TLS) that send recorded
 * replies, streams event by event. Requests without a recorded answer are passed to `onUnanswered`.
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
  /** Called before a reply is sent, which waits for the promise. */
  onReply(answer: Given): Promise<void>;
  /** Called when everything that exists of a reply was sent. */
  onGiven(answer: Given): void;
  /** 'live': the request is forwarded to its original destination. Otherwise the connection is closed. */
  onUnanswered(answer: Exclude<Answer, Given>, request: string): 'live' | 'close';
  /** The program connects to a server that is not in the recording; the connection waits. */
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

/**
 * For a connection to an unknown server, the preload sends `CONNECT host:port` on a separate connection; the redirected one
 * receives no data.
 */
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
  // There was no answer: the connection broke, or the program died while it waited.
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

/** Sent in one piece, however it was received when it was recorded. */
function giveHttp({ status, headers, text, end }: HttpAnswer, response: ServerResponse): void {
  if (status === 0) {
    if (end === 'cut') response.destroy();
    return;
  }
  response.writeHead(status, headers);
  if (end === 'whole') return void response.end(text);
  response.flushHeaders();
  if (text) response.write(text);
  // Written data is passed to the socket in this turn of the loop.
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

/** Each event is sent as a separate chunk, in a separate turn of the loop. */
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
  // fetch has already undone the encoding.
  const kept = [...answer.headers].filter(([name]) => !hopByHop.has(name) && name !== 'content-encoding');
  response.writeHead(answer.status, Object.fromEntries(kept));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
