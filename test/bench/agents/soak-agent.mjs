// The load of the soak: agents that ask a model over fetch, call tools, start children, log and warn, for as long as
// they are told to. `fill`, `turns N`, `sample` and `end` come on stdin; each is answered by one line of JSON after `@`.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { agent } from '../../../dist/index.js';

const { MODEL_URL, HEALTH_PORT } = process.env;
const agents = 3;
const longestHistory = 20;
/** So many turns between two that start a child, warn, fail in a tool. */
const [childEvery, warnEvery, failEvery] = [40, 100, 25];
let turnsDone = 0;

const health = createServer((_, response) => response.end('well\n')).listen(Number(HEALTH_PORT), '127.0.0.1');

async function askModel(messages) {
  const response = await fetch(`${MODEL_URL}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-soak-000000000000' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages }),
  });
  let text = '';
  for await (const chunk of response.body) text += Buffer.from(chunk).toString('utf8');
  return text
    .split('\n\n')
    .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('');
}

async function readNotes() {
  const text = await readFile(new URL(import.meta.url), 'utf8');
  if (turnsDone % failEvery === 0) throw new Error('the notes are not there today');
  return text.slice(0, 500);
}

const runChild = () =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', 'echo working; echo trouble >&2'], { stdio: 'pipe' });
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

async function takeTurn(history) {
  const turn = ++turnsDone;
  if (history.length >= longestHistory) history.length = 0;
  history.push({ role: 'user', content: `turn ${turn}` });
  await agent.step(`turn ${turn}`, async () => {
    const answer = await askModel(history);
    history.push({ role: 'assistant', content: answer });
    const notes = await agent.tool('read_notes', { turn }, readNotes).catch(({ message }) => message);
    if (turn % childEvery === 0) await agent.tool('run_child', { turn }, runChild);
    history.push({ role: 'user', content: `the notes: ${notes}` });
    await delay(5);
    history.push({ role: 'assistant', content: await askModel(history) });
  });
  console.log(`turn ${turn}: ${history.length} messages`);
  if (turn % warnEvery === 0) process.emitWarning(`${turn} turns`, 'SoakWarning');
}

async function takeTurns(count) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const worker = async () => {
    const history = [];
    await agent.run('soak', async () => {
      for (let i = 0; i < count; i++) await takeTurn(history);
    });
  };
  await Promise.all(Array.from({ length: agents }, worker));
  const { user, system } = process.cpuUsage(cpu);
  return { turns: agents * count, wallMs: performance.now() - start, cpuMs: (user + system) / 1000 };
}

async function sample() {
  for (let i = 0; i < 2; i++) {
    globalThis.gc();
    await delay(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external };
}

/** As many as the preload knows again (src/agent/record/conversation.ts). */
const knownMessages = 50_000;
/** All at once the event loop would stand still for so long that the supervisor ends it. */
const asked = 2500;

/** So many small events, and so many messages, that whatever keeps the newest of them is full. */
async function fill() {
  const before = ['a message of an hour ago, of which nothing is kept but its hash, number', 'short', 'new'];
  // Three times: a Map that is full doubles its table once more when the first half of it has been replaced.
  for (const text of before)
    for (let first = 0; first < knownMessages; first += asked)
      await askModel(
        Array.from({ length: asked }, (_, i) => ({ role: 'user', content: `${text} ${first + i}` })),
      );
  for (let i = 0; i < 60_000; i++) {
    await agent.tool('fill', { i }, async () => i);
    if (i % 10 === 0) await delay(1);
  }
  return {};
}

const answers = {
  fill,
  turns: (count) => takeTurns(Number(count)),
  sample,
  async end() {
    health.close();
    lines.close();
    return {};
  },
};
const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const [word, argument] = line.split(' ');
  console.log(`@${JSON.stringify({ pid: process.pid, ...(await answers[word](argument)) })}`);
});
