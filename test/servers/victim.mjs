// A real server that answers 50 requests at once, of which one, told by the driver before the run, ends it. Which one and how
// stands in the address; the code that dies never reads it again, so that only its context knows.
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';

const kind = process.argv[2];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
function reserve() {
  throw new TypeError('no stock');
}

async function bookDeep() {
  await pause(5);
  await null;
  reserve();
}

/** Waits until all requests are there, which the driver says by one to /go; then the one dies, the others wait on. */
const gate = new EventEmitter();
gate.setMaxListeners(0);
const ways = {
  timer: () => setTimeout(reserve, 5),
  emitter: () => {
    const own = new EventEmitter();
    own.on('booked', reserve);
    setImmediate(() => own.emit('booked'));
  },
  rejection: () => void bookDeep(),
  microtask: () => queueMicrotask(reserve),
  tick: () => process.nextTick(reserve),
  exit: () => setTimeout(() => process.exit(3), 5),
  interval: () => setInterval(reserve, 5),
};

let waiting = 0;
async function handle(path) {
  const url = new URL(path, 'http://localhost');
  if (url.pathname === '/go') {
    gate.emit('go');
    return;
  }
  const opened = new Promise((resolve) => gate.once('go', resolve));
  process.send?.({ waiting: ++waiting });
  await opened;
  await pause(5);
  const how = url.searchParams.get('how');
  if (how) ways[how]();
  await pause(60_000);
}

const listening = (server) => process.send?.({ port: server.address().port });
const servers = {
  async http() {
    const server = createServer(async (request, response) => {
      await handle(request.url);
      response.end('ok');
    }).listen(0, '127.0.0.1', () => listening(server));
  },
  async http2() {
    const server = createHttp2(async (request, response) => {
      await handle(request.url);
      response.end('ok');
    }).listen(0, '127.0.0.1', () => listening(server));
  },
  async express() {
    const { default: express } = await import('express');
    const app = express();
    const router = express.Router();
    router.get('/:id', async (request, response) => {
      await handle(request.originalUrl);
      response.send('ok');
    });
    app.use('/orders', router);
    app.get('/go', async (request, response) => {
      await handle(request.originalUrl);
      response.send('ok');
    });
    const server = app.listen(0, '127.0.0.1', () => listening(server));
  },
  async fastify() {
    const { default: fastify } = await import('fastify');
    const app = fastify();
    app.get('/orders/:id', async (request) => {
      await handle(request.url);
      return 'ok';
    });
    app.get('/go', async (request) => {
      await handle(request.url);
      return 'ok';
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    listening(app.server);
  },
  async koa() {
    const { default: Koa } = await import('koa');
    const { default: Router } = await import('@koa/router');
    const app = new Koa();
    const router = new Router();
    const answer = async (context) => {
      await handle(context.url);
      context.body = 'ok';
    };
    router.get('/orders/:id', answer).get('/go', answer);
    app.use(router.routes());
    const server = app.listen(0, '127.0.0.1', () => listening(server));
  },
  async hono() {
    const { Hono } = await import('hono');
    const { serve } = await import('@hono/node-server');
    const app = new Hono();
    const answer = async (context) => {
      const url = new URL(context.req.url);
      await handle(url.pathname + url.search);
      return context.text('ok');
    };
    app.get('/orders/:id', answer).get('/go', answer);
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => listening(server));
  },
  async ws() {
    const { WebSocketServer } = await import('ws');
    const server = createServer((_request, response) => {
      gate.emit('go');
      response.end('ok');
    });
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => {
      // What a message says is all that the handler knows of it.
      socket.on('message', (data) => void handle(String(data)));
    });
    server.listen(0, '127.0.0.1', () => listening(server));
  },
};
await servers[kind]();
