/** Runs a death of the table, with a model server that records what it sent and a program that records what it did. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { findBundle } from '../../src/bundle/finished/list.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { renderText } from '../../src/report/text.ts';
import { assertOfSchema } from '../support/system/of-schema.ts';
import { preload, untilHeard } from '../support/victims/run-victim.ts';
import type { Reply, Truth } from './truths.ts';

export interface Noted {
  at: number;
  what: string;
  [field: string]: unknown;
}

export interface Witnessed {
  account: Account;
  /** Everything above the full error, as one line. */
  firstScreen: string;
  /** What the program and the model's server recorded themselves, and how the process really ended. */
  log: Noted[];
}

/** The longest wait for the handler of a signal: a process whose event loop is blocked installs none. */
const heldMs = 3_000;
const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..', '..');

/** Available to each program. */
const prelude = `
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { agent } from 'agentdump';
const { MODEL, FILES, FRAMEWORKS } = process.env;
const ofServers = (name) => createRequire(FRAMEWORKS + '/servers/app.cjs')(name);
const ofAgents = (name) => import(pathToFileURL(createRequire(FRAMEWORKS + '/agents/app.cjs').resolve(name)));
const note = (what, fields = {}) => appendFileSync('log.ndjson', JSON.stringify({ at: Date.now(), what, ...fields }) + '\\n');
const ready = () => { note('ready'); console.log('ready'); };
const throws = (message) => { note('throws', { message }); throw new Error(message); };
const tool = (name, work) => agent.tool(name, {}, async () => {
  note('tool.begin', { name });
  try { const result = await work(); note('tool.end', { name }); return result; }
  catch (error) { note('tool.threw', { name, message: error.message }); throw error; }
});
const blame = (by, message) => note('throws', { by, message });
const openSite = async (routes) => {
  const { createServer: listen } = await import('node:http');
  const web = listen((request, response) => {
    const name = request.method + ' ' + request.url;
    note('request.begin', { name });
    response.on('finish', () => note('request.end', { name }));
    return routes[request.url](response, name);
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  return (path) => fetch('http://127.0.0.1:' + web.address().port + path).then((r) => r.text()).catch(() => {});
};
const ask = async ({ url = MODEL, path = '/v1/chat/completions', stream = false, signal, headers = {} } = {}) => {
  const response = await fetch(url + path, { method: 'POST', signal, headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-t', stream, messages: [{ role: 'user', content: 'How is Oslo?' }] }) });
  const text = await response.text();
  if (!response.ok) throw new Error('model answered ' + response.status + ': ' + text);
  return JSON.parse(text);
};
`;

export async function die(truth: Truth, dir: string, node: string): Promise<Witnessed> {
  const log: Noted[] = [];
  const server = await startModel(truth.replies ?? [], log);
  mkdirSync(join(dir, 'node_modules'), { recursive: true });
  symlinkSync(root, join(dir, 'node_modules', 'agentdump'));
  writeFileSync(join(dir, 'victim.mjs'), `${prelude}\n${truth.program}\n`);
  const words = truth.supervised
    ? [join(root, 'bin', 'agentdump.js'), 'run', '--', node, 'victim.mjs']
    : ['--require', preload, 'victim.mjs'];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    MODEL: server.url,
    FILES: server.url,
    FRAMEWORKS: join(root, 'test'),
    AGENTDUMP_DIR: join(dir, 'dumps'),
    ...truth.env,
    ...(truth.program.includes('child.mjs') && { NODE_OPTIONS: `--require ${preload}` }),
  };
  const child = spawn(node, truth.program.includes('child.mjs') ? ['victim.mjs'] : words, {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), 90_000);
  let out = '';
  let isSent = false;
  child.stderr.resume();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (isSent || !truth.signal || !out.includes('ready\n')) return;
    isSent = true;
    const pid = truth.supervised ? pidOf(child.pid as number) : (child.pid as number);
    void send(pid, truth.signal);
  });
  // Until the watchdog handles a signal, the system's default action ends the process without a bundle.
  const send = async (pid: number, signal: NodeJS.Signals) => {
    if (signal !== 'SIGKILL') await Promise.race([untilHeard(pid, signal), pause(heldMs)]);
    log.push({ at: Date.now(), what: 'signal', name: signal });
    process.kill(pid, signal);
  };
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(limit);
  await server.close();
  log.push({ at: Date.now(), what: 'end', code, signal });
  log.push(...readLog(join(dir, 'log.ndjson')));
  const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  bundle.close();
  const [head = ''] = renderText(account).split(
    /\n\n(?:Error|Stack|Who waits for whom|Agent|Around the process|Memory|Process)\n/,
    1,
  );
  return { account, firstScreen: head.replace(/\s+/g, ' '), log: log.sort((a, b) => a.at - b.at) };
}

/** The supervisor's child that runs the victim. */
function pidOf(supervisor: number): number {
  const list = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').trim().split(' ');
  const found = list.map(Number).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('victim.mjs');
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error('the supervisor has no child');
  return found;
}

function readLog(path: string): Noted[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function startModel(replies: readonly Reply[], log: Noted[]) {
  let n = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.url?.includes('/encodings/')) {
        log.push({ at: Date.now(), what: 'http.answered', status: 503 });
        response.writeHead(503).end('down');
        return;
      }
      answer(replies[Math.min(n++, replies.length - 1)] ?? {}, response, log, request.url ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(reply: Reply, response: ServerResponse, log: Noted[], path: string): void {
  const { status = 200, headers = {}, text = '', finish, tools, error, fault } = reply;
  log.push({ at: Date.now(), what: 'asked', path });
  if (fault === 'silent') return;
  if (fault === 'cut' || fault === 'stall') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'It is' } }] })}\n\n`;
    response.write(frame, () => log.push({ at: Date.now(), what: 'bytes', count: frame.length }));
    if (fault === 'cut') setTimeout(() => response.destroy(), 100);
    return;
  }
  const calls = tools?.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const body = error
    ? { error: { message: error, type: 'test_error' } }
    : {
        id: 'reply',
        model: 'gpt-t',
        choices: [
          {
            index: 0,
            finish_reason: finish ?? (calls ? 'tool_calls' : 'stop'),
            message: { role: 'assistant', content: text, ...(calls && { tool_calls: calls }) },
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      };
  log.push({
    at: Date.now(),
    what: 'answered',
    status,
    finish,
    retryAfter: headers['retry-after'],
    tools: tools?.map(({ name }) => name),
  });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
