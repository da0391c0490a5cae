/**
 * A model server on loopback with scripted replies, which records every conversation as the model sees it: the oracle for
 * what the taps record. Supports OpenAI's chat completions and Responses and Anthropic's messages, whole and streamed, with
 * threads stored on the server. On request it fails in the ways that real servers do.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type ModelApi, modelApis, type OracleMessage, type OracleReply } from './mock-model-apis.ts';

export type { OracleMessage, OracleReply } from './mock-model-apis.ts';

export interface ScriptedReply {
  text?: string;
  toolCalls?: { name: string; arguments: unknown }[];
  /** The number of events in which the text is streamed. */
  frames?: number;
  /** Pause before each event of a stream. */
  frameDelayMs?: number;
  encoding?: 'gzip' | 'br';
  /** Status of an error reply; `message` is its text. */
  status?: number;
  message?: string;
  /** malformed: half a JSON text; cut: the connection is closed mid-reply; stall: nothing more is sent mid-reply. */
  fault?: 'malformed' | 'cut' | 'stall';
}

export interface SeenCall {
  api: ModelApi['name'];
  model: string;
  stream: boolean;
  system?: string;
  tools: string[];
  /** What the model saw, including the history that the server stored. */
  conversation: OracleMessage[];
  /** What the model answered; absent for an error. */
  reply?: OracleReply;
  /** The part of the reply's text that was sent. */
  sentText: string;
  status: number;
}

export interface MockModelServer {
  url: string;
  calls: SeenCall[];
  /** `request` (call), `frame` (call, event), `end` (call). */
  events: EventEmitter;
  close(): Promise<void>;
}

/** `script` returns the reply to the n-th call (0-based); after each event the server waits for `pace`. */
export async function startMockModelServer(
  script: (call: SeenCall, n: number) => ScriptedReply,
  pace?: () => Promise<void>,
  protocol: 'http' | 'http2' = 'http',
): Promise<MockModelServer> {
  const state: State = { calls: [], events: new EventEmitter(), threads: new Map(), script, pace };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(state, request, response).catch((error) => response.destroy(error));
  };
  // The compatibility API of `node:http2` has everything of `node:http` that is used here.
  const server = protocol === 'http' ? createServer(listener) : createHttp2Server(listener as never);
  // A client that stands still for five seconds, for a heap snapshot or on a busy machine, would meet a connection that Node is
  // just closing, and send its request again.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0;
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: state.calls,
    events: state.events,
    async close() {
      server.close();
      for (const socket of connections) socket.destroy();
      await once(server, 'close');
    },
  };
}

interface State {
  calls: SeenCall[];
  events: EventEmitter;
  /** The conversation up to and including a reply, by the reply's id. */
  threads: Map<string, OracleMessage[]>;
  script: (call: SeenCall, n: number) => ScriptedReply;
  pace: (() => Promise<void>) | undefined;
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = new URL(request.url ?? '/', 'http://x').pathname;
  const api = modelApis.find((one) => one.path.test(path));
  if (!api) {
    response.writeHead(path === '/json' ? 200 : 404, { 'content-type': 'application/json' });
    response.end('{"ok":true}');
    return;
  }
  const { call, script } = see(state, api, Buffer.concat(chunks).toString('utf8'));
  state.events.emit('request', call);
  await state.pace?.();
  if (script.status !== undefined) sendError(api, response, script.status, script.message);
  else if (call.stream) await sendStream(state, api, response, call, script);
  else sendWhole(api, response, call, script);
  state.events.emit('end', call);
}

function see(state: State, api: ModelApi, body: string): { call: SeenCall; script: ScriptedReply } {
  const { messages, continues, ...rest } = api.read(JSON.parse(body));
  const held = continues === undefined ? [] : (state.threads.get(continues) ?? []);
  const call: SeenCall = {
    api: api.name,
    ...rest,
    conversation: [...held, ...messages.filter((m) => m.role !== 'reference')],
    sentText: '',
    status: 200,
  };
  const n = state.calls.push(call) - 1;
  const script = state.script(call, n);
  if (script.status !== undefined) {
    call.status = script.status;
    return { call, script };
  }
  const reply = makeReply(call, script, n);
  call.reply = reply;
  const spoken: OracleMessage = { role: 'assistant' };
  if (reply.text) spoken.text = reply.text;
  if (reply.toolCalls.length) spoken.toolCalls = reply.toolCalls;
  state.threads.set(reply.id, [...call.conversation, spoken]);
  return { call, script };
}

function makeReply(call: SeenCall, script: ScriptedReply, n: number): OracleReply {
  const toolCalls = (script.toolCalls ?? []).map((one, i) => ({ id: `call_${n}_${i}`, ...one }));
  const text = script.text ?? '';
  return {
    id: `reply_${n}`,
    model: call.model,
    text,
    toolCalls,
    usage: {
      input: 10 + JSON.stringify(call.conversation).length,
      output: 1 + text.length + 7 * toolCalls.length,
    },
  };
}

function sendError(
  api: ModelApi,
  response: ServerResponse,
  status: number,
  message = `scripted ${status}`,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-request-id': 'req_1',
    'retry-after': '0',
  });
  response.end(JSON.stringify(api.error(status, message)));
}

function sendWhole(api: ModelApi, response: ServerResponse, call: SeenCall, script: ScriptedReply): void {
  const text = JSON.stringify(api.whole(call.reply as OracleReply));
  const head: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': 'req_1' };
  if (script.encoding) head['content-encoding'] = script.encoding;
  response.writeHead(200, head);
  if (script.fault === 'malformed') response.end(text.slice(0, text.length / 2));
  else if (script.fault === 'cut') response.write(text.slice(0, 20), () => response.destroy());
  else if (script.fault === 'stall') response.write(text.slice(0, 20));
  else {
    call.sentText = call.reply?.text ?? '';
    response.end(encode(text, script.encoding));
  }
}

function encode(text: string, encoding: ScriptedReply['encoding']): string | Buffer {
  if (encoding === 'gzip') return gzipSync(text);
  return encoding === 'br' ? brotliCompressSync(text) : text;
}

async function sendStream(
  state: State,
  api: ModelApi,
  response: ServerResponse,
  call: SeenCall,
  script: ScriptedReply,
): Promise<void> {
  const events = api.events(call.reply as OracleReply, script.frames ?? 5);
  const head: Record<string, string> = { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' };
  if (script.encoding) head['content-encoding'] = script.encoding;
  response.writeHead(200, head);
  const texts = events.map(({ name, data }) => {
    const json = data === '[DONE]' ? data : JSON.stringify(data);
    return `${name === undefined ? '' : `event: ${name}\n`}data: ${json}\n\n`;
  });
  if (script.encoding) {
    call.sentText = call.reply?.text ?? '';
    response.end(encode(texts.join(''), script.encoding));
    return;
  }
  const last = script.fault ? Math.ceil(events.length / 2) : events.length;
  for (let i = 0; i < last && !response.destroyed; i++) {
    if (script.frameDelayMs) await delay(script.frameDelayMs);
    response.write(texts[i]);
    call.sentText += events[i]?.text ?? '';
    state.events.emit('frame', call, events[i]);
    await state.pace?.();
  }
  if (script.fault === 'malformed') response.end('data: {"choices": [{"del\n\n');
  else if (script.fault === 'cut') setTimeout(() => response.destroy(), 20);
  else if (script.fault !== 'stall') response.end();
}
