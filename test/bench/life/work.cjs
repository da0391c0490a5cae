// The programs of the life benchmark: one kind of work, again and again, as often as it is told to on stdin. Each line there is
// how many operations; the answer, on descriptor 3, is the CPU time of the whole process, all threads, that they took.
const { writeSync } = require('node:fs');
const { readFile } = require('node:fs/promises');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { createInterface } = require('node:readline');

const [, , row, origin, agents] = process.argv;
const http = require('node:http');
const url = new URL(origin);
const streamed = (tokens, pause) => ({
  'content-type': 'application/json',
  'x-tokens': String(tokens),
  'x-pause': String(pause),
});
const messages = [{ role: 'user', content: 'Say something.' }];
const body = JSON.stringify({ model: 'm', stream: true, messages });

/** Settled work a time: so that `await` of a loop is not part of what is measured. */
const times = (work) => async (count) => {
  for (let i = 0; i < count; i++) await work(i);
};

const get = (agent) => () =>
  new Promise((resolve, reject) => {
    http
      .get({ agent, host: url.hostname, port: url.port, path: '/plain' }, (response) => {
        response.on('data', () => {}).on('end', resolve);
      })
      .on('error', reject);
  });

function readByHttp(tokens, pause) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        agent: keepAlive,
        method: 'POST',
        host: url.hostname,
        port: url.port,
        path: '/v1/chat/completions',
        headers: streamed(tokens, pause),
      },
      (response) => response.on('data', () => {}).on('end', resolve),
    );
    request.on('error', reject).end(body);
  });
}

const keepAlive = new http.Agent({ keepAlive: true });

async function readByFetch(tokens, pause) {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: streamed(tokens, pause),
    body,
  });
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  return bytes;
}

/** As most programs do that have no client library: text, lines, JSON. */
async function parseByFetch(tokens, pause) {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: streamed(tokens, pause),
    body,
  });
  const decoder = new TextDecoder();
  let rest = '';
  let text = '';
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events)
      if (event.startsWith('data: {')) text += JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '';
  }
  return text;
}

const fromAgents = (name) => require(require.resolve(name, { paths: [agents] }));

function openai() {
  const OpenAI = fromAgents('openai').default;
  const client = new OpenAI({ apiKey: 'none', baseURL: `${origin}/v1`, maxRetries: 0 });
  return async (tokens, pause) => {
    const stream = await client.chat.completions.create(
      { model: 'm', stream: true, messages },
      { headers: streamed(tokens, pause) },
    );
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  };
}

function anthropic() {
  const Anthropic = fromAgents('@anthropic-ai/sdk').default;
  const client = new Anthropic({ apiKey: 'none', baseURL: origin, maxRetries: 0 });
  return async (tokens, pause) => {
    const stream = await client.messages.create(
      { model: 'm', max_tokens: 100, stream: true, messages },
      { headers: streamed(tokens, pause) },
    );
    let text = '';
    for await (const event of stream) if (event.type === 'content_block_delta') text += event.delta.text;
    return text;
  };
}

/** One reply after the other, as fast as they come. */
const burst = (read) => (tokens) => read(tokens, 0);
/** Four beside each other, at the pace of a fast model: 100 tokens a second each. */
const paced = (read) => (tokens) => Promise.all([1, 2, 3, 4].map(() => read(tokens / 4, 10)));

function emitting(emitter, name, hasListener) {
  let heard = 0;
  if (hasListener)
    emitter.on(name, (by) => {
      heard += by;
    });
  return async (count) => {
    for (let i = 0; i < count; i++) emitter.emit(name, 1);
    return heard;
  };
}

/** As libraries do that clean up at the end of each of their works. */
function listening(name) {
  const listener = () => {};
  return async (count) => {
    for (let i = 0; i < count; i++) process.on(name, listener).removeListener(name, listener);
  };
}

const logging = (line) => async (count) => {
  for (let i = 0; i < count; i++) {
    console.log(line, i);
    // A program that logs for a living comes back to its loop.
    if (i % 50 === 49) await new Promise(setImmediate);
  }
};

const { EventEmitter } = require('node:events');
const works = {
  'http.get': () => times(get(undefined)),
  fetch: () => times(async () => (await fetch(`${origin}/plain`)).text()),
  'console.log': () => logging('a line of a log with a number in it'),
  'console.log-long': () => logging('x'.repeat(4000)),
  'process.emit': () => emitting(process, 'of-the-program', true),
  'process.emit-unheard': () => emitting(process, 'nobody-hears', false),
  'process.emit-tapped': () => emitting(process, 'SIGHUP', true),
  'process.on': () => listening('of-the-program'),
  'emitter.emit': () => emitting(new EventEmitter(), 'data', true),
  'token-raw': () => burst(readByFetch),
  'token-parsed': () => burst(parseByFetch),
  'token-http': () => burst(readByHttp),
  'token-openai': () => burst(openai()),
  'token-anthropic': () => burst(anthropic()),
  'paced-raw': () => paced(readByFetch),
  'paced-parsed': () => paced(parseByFetch),
  'paced-http': () => paced(readByHttp),
  'paced-openai': () => paced(openai()),
  'paced-anthropic': () => paced(anthropic()),
  await: () => times(async () => {}),
  setTimeout: () => times(() => new Promise((resolve) => setTimeout(resolve, 0))),
  setImmediate: () => times(() => new Promise(setImmediate)),
  hour: () => hour(),
  serve: () => serve(),
  'serve-thread': () => serveBesideThread(),
  'serve-promises': () => servePromises(),
  'serve-express': () => serveExpress(),
  'serve-fastify': () => serveFastify(),
};

/** What an agent does in a minute: asks, reads the stream, calls things by HTTP, logs, computes. */
function hour() {
  const history = [];
  return times(async (turn) => {
    if (history.length > 20) history.length = 0;
    history.push({ role: 'user', content: `turn ${turn}: ${'go on with the work. '.repeat(20)}` });
    const sent = JSON.stringify({ model: 'm', stream: true, messages: history });
    const response = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: streamed(60, 0),
      body: sent,
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
    history.push({ role: 'assistant', content: text.slice(0, 2000) });
    await get(keepAlive)();
    await (await fetch(`${origin}/plain`)).text();
    const table = Array.from({ length: 2000 }, (_, i) => ({ i, name: `row ${i}` }));
    JSON.parse(JSON.stringify(table));
    console.log(`turn ${turn}: ${text.length} characters`);
  });
}

/** A server that answers; the program asks itself, so both ends are in it. */
function serve() {
  const server = http.createServer((_request, response) => response.end('well\n')).listen(0, '127.0.0.1');
  const ask = () =>
    new Promise((resolve, reject) => {
      const { port } = server.address();
      http
        .get({ agent: keepAlive, host: '127.0.0.1', port, path: '/' }, (response) =>
          response.on('data', () => {}).on('end', resolve),
        )
        .on('error', reject);
    });
  return times(ask);
}

/** The least that a second thread costs: nothing runs in it. */
function serveBesideThread() {
  const { Worker } = require('node:worker_threads');
  new Worker('setInterval(() => {}, 1000)', { eval: true, execArgv: [], env: {} }).unref();
  return serve();
}

/** A server of async functions, some 150 promises a request; the other process asks, 20 at once. */
function servePromises() {
  const prices = new Map(Array.from({ length: 100 }, (_, i) => [`item-${i}`, i]));
  const look = async (name) => prices.get(name);
  const price = async ({ name, count }) => ({ name, total: (await look(name)) * count });
  async function answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const order = JSON.parse(Buffer.concat(chunks).toString());
    const lines = [];
    for (const line of order.lines) lines.push(await price(line));
    const all = await Promise.all(order.lines.map(price));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ lines, all }));
  }
  return askedByTheOther(http.createServer(answer).listen(0, '127.0.0.1'));
}

function askedByTheOther(server) {
  return async (count) => {
    const path = `/ask?port=${server.address().port}&count=${count}`;
    await new Promise((resolve, reject) => {
      http
        .get({ host: url.hostname, port: url.port, path }, (response) => response.resume().on('end', resolve))
        .on('error', reject);
    });
  };
}

/** As many servers are: Express, a middleware, a session looked up, two queries side by side, a file, an answer of 2 KB. */
function serveExpress() {
  const express = createRequire(join(__dirname, '../../servers/x.js'))('express');
  const app = express();
  const later = () => new Promise((resolve) => setImmediate(resolve));
  const session = async (id) => {
    await later();
    return { user: Number(id) };
  };
  const query = async (user) => {
    await later();
    return Array.from({ length: 20 }, (_, n) => ({ id: user * n, name: `row ${n}`, at: n * 1000 }));
  };
  app.use(async (_request, _response, next) => {
    await null;
    next();
  });
  app.use(async (_request, response) => {
    const { user } = await session(7);
    const [orders, invoices] = await Promise.all([query(user), query(user + 1)]);
    const text = await readFile(__filename, 'utf8');
    response.json({ user, orders, invoices, length: text.length });
  });
  return askedByTheOther(app.listen(0, '127.0.0.1'));
}

/** Fastify: hooks, a schema, an order whose twenty lines are priced one after the other, each by a look at a cache and a turn of the loop. */
function serveFastify() {
  const fastify = createRequire(join(__dirname, '../../servers/x.js'))('fastify');
  const app = fastify();
  const prices = new Map(Array.from({ length: 100 }, (_, i) => [`item-${i}`, i]));
  const look = async (name) => prices.get(name);
  const later = () => new Promise((resolve) => setImmediate(resolve));
  app.addHook('onRequest', async () => {
    await null;
  });
  app.addHook('preHandler', async (request) => {
    await later();
    request.headers['x-user'] = '7';
  });
  const line = { type: 'object', properties: { name: { type: 'string' }, count: { type: 'number' } } };
  const body = { type: 'object', properties: { lines: { type: 'array', items: line } } };
  app.post('/order', { schema: { body } }, async (request) => {
    const lines = [];
    for (const { name, count } of request.body.lines.slice(0, 20)) {
      lines.push({ name, total: (await look(name)) * count });
      await null;
    }
    await later();
    return { user: request.headers['x-user'], lines };
  });
  const listening = app.listen({ port: 0, host: '127.0.0.1' });
  const ask = askedByTheOther(app.server);
  return async (count) => {
    await listening;
    await ask(count);
  };
}

const work = works[row]();
const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const before = process.cpuUsage();
  await work(Number(line));
  const { user, system } = process.cpuUsage(before);
  writeSync(3, `${(user + system) / 1000}\n`);
});
