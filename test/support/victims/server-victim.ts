/**
 * Drives test/servers/victim.mjs: fifty simultaneous requests, one of which ends the program. Returns what its bundle
 * contains about that request.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../../src/model/account.ts';
import { accountOf } from './run-account.ts';
import { preload } from './run-victim.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const victim = join(root, 'test', 'servers', 'victim.mjs');
export const serversInstalled = existsSync(join(root, 'test', 'servers', 'node_modules'));

/** How the request ends the program; each of them happens after its callback has returned. */
export const deathsOfRequests = ['timer', 'emitter', 'rejection', 'microtask', 'tick', 'exit'] as const;
export type DeathOfRequest = (typeof deathsOfRequests)[number] | 'interval';
/** Node 20 and 22 have already left the async context of a queueMicrotask callback when its error is reported. */
export const isLost = (how: DeathOfRequest, major: number): boolean => how === 'microtask' && major < 24;
export type ServerKind = 'http' | 'http2' | 'express' | 'fastify' | 'koa' | 'hono' | 'ws';

export interface ServerRun {
  node: string;
  kind: ServerKind;
  how: DeathOfRequest;
  /** Index of the deadly request, chosen before the run. */
  at: number;
  requests?: number;
  /** The folder for the bundle. */
  dir: string;
  env?: Record<string, string>;
}

const lifeLimitMs = 60_000;

/** The account of the only bundle that the program left. Throws if there is none. */
export async function accountOfRequest(run: ServerRun): Promise<Account> {
  const child = fork(victim, [run.kind], {
    execPath: run.node,
    execArgv: ['--require', preload],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { PATH: process.env['PATH'] ?? '', AGENTDUMP_DIR: run.dir, AGENTDUMP_HEAP: 'off', ...run.env },
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    await Promise.race([drive(child, run), ended]);
    await ended;
  } finally {
    clearTimeout(timer);
  }
  const [name] = readdirSync(run.dir).filter((entry) => entry.endsWith('.agentdump'));
  if (name === undefined) throw new Error(`no bundle was left; the program said: ${said}`);
  return await accountOf(join(run.dir, name));
}

export const traceOf = (at: number): string => at.toString(16).padStart(32, 'a');

async function drive(child: ChildProcess, { kind, how, at, requests = 50 }: ServerRun): Promise<void> {
  const { port } = await message<AddressInfo>(child, ({ port }) => port !== undefined);
  const all = message(child, ({ waiting }) => waiting === requests);
  const paths = Array.from(
    { length: requests },
    (_, index) => `/orders/${index}?coupon=spring${index === at ? `&how=${how}` : ''}`,
  );
  if (kind === 'http2') {
    const session = connect(`http://127.0.0.1:${port}`).on('error', () => {});
    for (const path of paths) session.request({ ':path': path }).on('error', () => {});
    await all;
    session.request({ ':path': '/go' }).on('error', () => {});
    return;
  }
  for (const [index, path] of paths.entries())
    if (kind === 'ws') sendByWebSocket(port, path);
    else get(port, path, { traceparent: `00-${traceOf(index)}-b7ad6b7169203331-01` });
  await all;
  get(port, '/go', {});
}

function get(port: number, path: string, headers: Record<string, string>): void {
  const asked = request({ port, host: '127.0.0.1', path, headers, agent: false }, (reply) => reply.resume());
  asked.on('error', () => {});
  asked.end();
}

/** One masked text frame of fewer than 126 bytes (RFC 6455). */
function sendByWebSocket(port: number, path: string): void {
  const socket = connectSocket(port, '127.0.0.1');
  const [address] = path.split('?');
  socket
    .on('error', () => {})
    .write(
      `GET ${address} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
  socket.once('data', () => {
    const text = Buffer.from(path);
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  });
}

function message<Message extends { port?: number; waiting?: number }>(
  child: ChildProcess,
  isIt: (message: { port?: number; waiting?: number }) => boolean,
): Promise<Message> {
  return new Promise((resolve) => {
    child.on('message', (told) => {
      if (isIt(told as { port?: number })) resolve(told as Message);
    });
  });
}
