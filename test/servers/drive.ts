/**
 * Drives trial/victim.mjs: a real server with fifty requests in flight, on connections that have already served other
 * requests.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../src/model/account.ts';
import { accountOf } from '../support/victims/run-account.ts';
import { preload } from '../support/victims/run-victim.ts';

export const frameworks = ['http', 'express', 'fastify', 'koa', 'hono', 'next', 'http2', 'ws'] as const;
export type Framework = (typeof frameworks)[number];

export interface Trial {
  framework: Framework;
  /** A name in ways.mjs. */
  how: string;
  /** Index of the request, of fifty, that dies. */
  at: number;
}

export const requests = 50;
const lifeLimitMs = 60_000;
const victim = fileURLToPath(new URL('trial/victim.mjs', import.meta.url));

export async function readAccount(path: string): Promise<Account> {
  return await accountOf(path);
}

export interface Life {
  node: string;
  dir: string;
  env: Record<string, string>;
  /** File in which the victim records the truth. */
  log: string;
  execArgv?: readonly string[];
  /** Polled; the victim is killed once it returns true. */
  isDone?: () => boolean;
}

export async function liveAndDie(
  trial: Trial,
  { node, dir, env, log, execArgv = [], isDone }: Life,
): Promise<string> {
  const child = fork(victim, [trial.framework, log], {
    execPath: node,
    execArgv: ['--require', preload, ...execArgv],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      AGENTDUMP_DIR: dir,
      AGENTDUMP_HEAP: 'off',
      ...env,
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2000);
    });
  const timer = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
  const poll = setInterval(() => isDone?.() && child.kill('SIGKILL'), 200);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const client: Client = trial.framework === 'http2' ? new Http2Client() : new HttpClient();
  try {
    await Promise.race([drive(child, trial, client), ended]);
    await ended;
  } finally {
    clearTimeout(timer);
    clearInterval(poll);
    client.close();
  }
  return said;
}

async function drive(child: ChildProcess, { framework, how, at }: Trial, client: Client): Promise<void> {
  const { port, prefix } = await message<{ port: number; prefix: string }>(child, 'port');
  const all = message<{ waiting: number }>(child, 'waiting', requests);
  await client.open(port);
  // Each connection has served a request before, as behind a proxy.
  await Promise.all(Array.from({ length: requests }, () => client.get(`${prefix}/warm`).ended));
  const sockets: Socket[] = [];
  const asked = Array.from({ length: requests }, (_, index) => {
    const path = `${prefix}/orders/${index}?how=${encodeURIComponent(how)}${index === at ? '&dies' : ''}`;
    if (framework !== 'ws') return client.get(path);
    const socket = openWebSocket(port, path);
    sockets.push(socket);
    return { ended: new Promise<void>(() => {}), abort: () => socket.destroy() };
  });
  await all;
  client.get(`${prefix}/go`);
  // By then the requests have reached their ways, unless the machine is busy. An event that all wait for, and a client's disconnect,
  // must come after that.
  await new Promise((resolve) => setTimeout(resolve, 100));
  while (how.startsWith('bus') && child.exitCode === null && child.signalCode === null) {
    await client.get(`${prefix}/bus`).ended;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  if (how === 'close') asked[at]?.abort();
}

interface Asked {
  ended: Promise<void>;
  abort(): void;
}
interface Client {
  open(port: number): Promise<void>;
  get(path: string): Asked;
  close(): void;
}

class HttpClient implements Client {
  readonly #agent = new Agent({ keepAlive: true });
  #port = 0;

  async open(port: number): Promise<void> {
    this.#port = port;
  }

  get(path: string): Asked {
    const asked = request({ port: this.#port, host: '127.0.0.1', path, agent: this.#agent });
    const ended = new Promise<void>((resolve) => {
      asked.on('response', (reply) => reply.resume().on('close', resolve)).on('error', () => resolve());
    });
    asked.end();
    return { ended, abort: () => asked.destroy() };
  }

  close(): void {
    this.#agent.destroy();
  }
}

class Http2Client implements Client {
  #session: ClientHttp2Session | undefined;

  async open(port: number): Promise<void> {
    this.#session = connect(`http://127.0.0.1:${port}`).on('error', () => {});
  }

  get(path: string): Asked {
    const stream = this.#session!.request({ ':path': path }).on('error', () => {});
    const ended = new Promise<void>((resolve) => stream.resume().on('close', resolve));
    return { ended, abort: () => stream.destroy() };
  }

  close(): void {
    this.#session?.destroy();
  }
}

/** Sends one masked text frame (RFC 6455) once it is open. */
function openWebSocket(port: number, path: string): Socket {
  const socket = connectSocket(port, '127.0.0.1').on('error', () => {});
  socket.write(
    `GET ${path.split('?')[0]} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  socket.once('data', () => {
    const text = Buffer.from(path);
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  });
  return socket;
}

/** The first message that has this field, or in which it has this value. */
function message<Message>(child: ChildProcess, field: string, value?: number): Promise<Message> {
  return new Promise((resolve) => {
    child.on('message', (told) => {
      const found = (told as Record<string, unknown>)[field];
      if (value === undefined ? found !== undefined : found === value) resolve(told as Message);
    });
  });
}
