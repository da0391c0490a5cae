/**
 * The cost of the taps: of installing them, per SSE frame of a streamed reply, per request that is not a model call, of a
 * long conversation's journal, and of the API with and without the preload. Each is compared with the same program without
 * taps in the same run.
 */
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agent } from '../../../src/agent/api/api.ts';
import { installAgent } from '../../../src/agent/install.ts';
import { openaiChat } from '../../../src/agent/providers/openai-chat.ts';
import { Conversation } from '../../../src/agent/record/conversation.ts';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';
import { createPolicy } from '../../../src/redaction/index.ts';
import { provideAgentPort } from '../../support/agents/agent-host.ts';
import { buildPreload, findNode, nodeMajors } from '../../support/agents/agent-preload.ts';

const frames = 20_000;
const rounds = 7;
const policy = createPolicy();

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const print = (what: string, figure: string) => console.log(`${what.padEnd(64)} ${figure}`);

/** The child's program: fetches one stream repeatedly, and prints the median in milliseconds. */
const client = `
const [url, rounds] = process.argv.slice(1);
const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] });
(async () => {
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    const response = await fetch(url, { method: 'POST', body });
    for await (const chunk of response.body) chunk.length;
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(times[times.length >> 1]);
})();`;

async function measureFrames(preload: string): Promise<void> {
  const chunk = (text: string) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-123', object: 'chunk', choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
  const whole = Buffer.from(
    `${Array.from({ length: frames }, (_, i) => chunk(`word${i % 100} `)).join('')}data: [DONE]\n\n`,
  );
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'text/event-stream').end(whole));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.on('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { spawn } = await import('node:child_process');
  const run = (node: string, path: string, withTap: boolean) =>
    new Promise<number>((resolve) => {
      const env = { PATH: '', ...(withTap ? { AGENT_EVENTS_FILE: '/dev/null' } : {}) };
      const child = spawn(
        node,
        [...(withTap ? ['--require', preload] : []), '-e', client, url + path, String(rounds)],
        { env },
      );
      let out = '';
      child.stdout.on('data', (text) => {
        out += text;
      });
      child.on('close', () => resolve(Number(out)));
    });
  for (const major of nodeMajors) {
    const node = findNode(major);
    if (!node) continue;
    const pairs: number[] = [];
    for (let i = 0; i < 3; i++) {
      const plain = await run(node, '/v1/chat/completions', false);
      const tapped = await run(node, '/v1/chat/completions', true);
      pairs.push(((tapped - plain) / frames) * 1000);
    }
    print(
      `Node ${major}: a frame of ${Math.round(whole.length / frames)} bytes, tapped`,
      `+${median(pairs).toFixed(2)} µs`,
    );
  }
  server.close();
}

function measureLoad(preload: string): void {
  for (const major of nodeMajors) {
    const node = findNode(major);
    if (!node) continue;
    const code = `const t = performance.now(); require(${JSON.stringify(preload)}); console.log(performance.now() - t)`;
    const times = Array.from({ length: 15 }, () =>
      Number(execFileSync(node, ['-e', code], { env: { AGENT_EVENTS_FILE: '/dev/null' } })),
    );
    print(`Node ${major}: loading and installing (with a test sink)`, `${median(times).toFixed(2)} ms`);
  }
}

/** A conversation of 1,000 calls that grows to 200,000 tokens and contains tool results of 5 kB. */
function measureJournal(): void {
  let bytes = 0;
  const count = (_kind: number, text: string) => (bytes += Buffer.byteLength(text));
  const sink = new EventSink({
    policy,
    journal: { append: count, appendBuffered: count, flush() {} },
  });
  const { recorder } = installAgent({ sink: new LateSink(() => sink), captureLlm: 'off' });
  const conversation = new Conversation({
    message: (message) => {
      const id = recorder.nextId('m');
      sink.record('message', { message: id, role: message.role }, { parts: message.parts });
      return id;
    },
    tools: () => 'd1',
  });
  const messages: object[] = [];
  let body = '';
  const start = performance.now();
  let parse = 0;
  for (let call = 0; call < 1000; call++) {
    const text = call % 10 === 0 ? `result ${call} `.repeat(450) : `question ${call}, `.repeat(20);
    messages.push(
      { role: 'user', content: text },
      { role: 'assistant', content: `answer ${call} `.repeat(10) },
    );
    body = JSON.stringify({ model: 'm', messages });
    const at = performance.now();
    const request = openaiChat.readRequest(JSON.parse(body), { host: '', path: '', query: '' });
    if (request)
      sink.record(
        'model.start',
        { call: `c${call}`, conversation: conversation.begin(`c${call}`, request) },
        { attributes: {} },
      );
    parse += performance.now() - at;
  }
  print(
    `1,000 calls, ${(body.length / 1e6).toFixed(2)} MB of conversation: journal`,
    `${(bytes / 1e6).toFixed(2)} MB`,
  );
  print('… reading and recording a request, mean', `${(parse / 1000).toFixed(2)} ms`);
  print(
    '… of which the host itself spends on its JSON',
    `${((performance.now() - start - parse) / 1000).toFixed(2)} ms`,
  );
}

async function measureApi(): Promise<void> {
  const time = (count: number, work: () => void) => {
    work();
    const start = performance.now();
    for (let i = 0; i < count; i++) work();
    return ((performance.now() - start) / count) * 1e6;
  };
  print('agent.note without the preload', `${time(3e6, () => agent.note('x')).toFixed(1)} ns`);
  print('agent.step without the preload', `${time(3e6, () => agent.step('x', () => 1)).toFixed(1)} ns`);
  const { port } = installAgent({ sink: new LateSink(() => new EventSink({ policy })), captureLlm: 'off' });
  const remove = provideAgentPort(port);
  print(
    'agent.step with it, into the ring',
    `${(time(50_000, () => agent.step('x', () => 1)) / 1000).toFixed(2)} µs`,
  );
  remove();
}

const preload = await buildPreload();
measureLoad(preload);
await measureApi();
measureJournal();
await measureFrames(preload);
