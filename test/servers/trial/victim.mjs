// A server of a real framework that answers fifty requests, of which one ends it. `node victim.mjs FRAMEWORK LOG`: the parent is told
// the port and how many wait; the one that dies writes its own path to LOG right before, by its own closure.
import { EventEmitter } from 'node:events';
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { fillings, stops } from './filling.mjs';

const [, , framework, log] = process.argv;
// Its packages are installed by hand, and not needed to fill a heap.
const { tellBus, ways } = existsSync(new URL('node_modules', import.meta.url))
  ? await import('./ways.mjs')
  : { tellBus() {}, ways: {} };
const allWays = { ...ways, ...fillings, ...stops };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const gate = new EventEmitter().setMaxListeners(0);
let waiting = 0;
let origin;

/** Answers when it returns. */
async function handle(path, request, response) {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  if (pathname.endsWith('/peer') || pathname.endsWith('/warm')) return;
  if (pathname.endsWith('/go')) {
    gate.emit('go');
    return;
  }
  if (pathname.endsWith('/bus')) {
    tellBus();
    return;
  }
  const dies = searchParams.has('dies');
  const write = (how) => appendFileSync(log, `${JSON.stringify({ path: pathname, how })}\n`);
  const opened = new Promise((resolve) => gate.once('go', resolve));
  process.send?.({ waiting: ++waiting });
  await opened;
  await pause(2);
  await new Promise((resolve) => {
    allWays[searchParams.get('how')]({
      at: Number(pathname.split('/').at(-1)),
      tell: () => write('began'),
      nobody: () => appendFileSync(log, `${JSON.stringify({ path: '', how: 'all' })}\n`),
      path: pathname,
      request,
      response,
      origin,
      dies,
      log: () => write('rejected'),
      die() {
        if (!dies) return;
        write('threw');
        throw new TypeError('no stock');
      },
      exit() {
        if (!dies) return;
        write('exited');
        process.exit(3);
      },
      leave: () => (dies || Math.random() < 0.3) && resolve(),
    });
    setTimeout(resolve, 60_000);
  });
}

function listening(server, prefix = '') {
  const { port } = server.address();
  origin = `http://127.0.0.1:${port}${prefix}`;
  process.send?.({ port, prefix });
}

const frameworks = {
  http() {
    const server = createServer(async (request, response) => {
      await handle(request.url, request, response);
      response.end('ok');
    }).listen(0, '127.0.0.1', () => listening(server));
  },
  http2() {
    // The peer of its own requests speaks HTTP/1.
    const peer = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1', () => {
      const server = createHttp2(async (request, response) => {
        await handle(request.url, request, response);
        response.end('ok');
      }).listen(0, '127.0.0.1', () => {
        listening(server);
        origin = `http://127.0.0.1:${peer.address().port}`;
      });
    });
  },
  async express() {
    const { default: express } = await import('express');
    const app = express();
    app.use(async (_request, _response, next) => {
      await pause(1);
      next();
    });
    const router = express.Router();
    const answer = async (request, response) => {
      await handle(request.originalUrl, request, response);
      response.send('ok');
    };
    router.get('/:id', answer);
    app.use('/orders', router);
    app.get('/:name', answer);
    const server = app.listen(0, '127.0.0.1', () => listening(server));
  },
  async fastify() {
    const { default: fastify } = await import('fastify');
    const app = fastify();
    app.addHook('preHandler', async () => pause(1));
    const answer = async (request, reply) => {
      await handle(request.url, request.raw, reply.raw);
      return 'ok';
    };
    app.get('/orders/:id', answer);
    app.get('/:name', answer);
    await app.listen({ port: 0, host: '127.0.0.1' });
    listening(app.server);
  },
  async koa() {
    const { default: Koa } = await import('koa');
    const { default: Router } = await import('@koa/router');
    const app = new Koa();
    const router = new Router();
    const answer = async (context) => {
      await handle(context.url, context.req, context.res);
      context.body = 'ok';
    };
    app.use(async (_context, next) => {
      await pause(1);
      await next();
    });
    router.get('/orders/:id', answer).get('/:name', answer);
    app.use(router.routes());
    const server = app.listen(0, '127.0.0.1', () => listening(server));
  },
  async hono() {
    const { Hono } = await import('hono');
    const { serve } = await import('@hono/node-server');
    const app = new Hono();
    const answer = async (context) => {
      const url = new URL(context.req.url);
      await handle(url.pathname + url.search, context.env.incoming, context.env.outgoing);
      return context.text('ok');
    };
    app.use(async (_context, next) => {
      await pause(1);
      await next();
    });
    app.get('/orders/:id', answer).get('/:name', answer);
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => listening(server));
  },
  async next() {
    const { default: next } = await import('next');
    // The built pages are in this process and find it here.
    globalThis.answerOfTrial = handle;
    const app = next({ dev: false, dir: new URL('next', import.meta.url).pathname });
    await app.prepare();
    const answer = app.getRequestHandler();
    const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1', () =>
      listening(server, '/api'),
    );
  },
  async ws() {
    const { WebSocketServer } = await import('ws');
    const server = createServer(async (request, response) => {
      await handle(request.url, request, response);
      response.end('ok');
    });
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('message', async (data) => {
        await handle(String(data), socket, undefined);
        socket.send('ok');
      });
    });
    server.listen(0, '127.0.0.1', () => listening(server));
  },
};
await frameworks[framework]();
