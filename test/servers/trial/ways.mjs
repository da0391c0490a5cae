// How a request dies. Each of the fifty does the same thing, so that what they share (pools, emitters, queues, connections) is
// shared when the one throws, which only its own closure knows: `die` throws there, and does nothing in the others.

import { execFile } from 'node:child_process';
import { pbkdf2, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { EventEmitter, on, once } from 'node:events';
import { readFile } from 'node:fs';
import { Agent, get } from 'node:http';
import { PassThrough, pipeline, Readable, Transform } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import DataLoader from 'dataloader';
import genericPool from 'generic-pool';
import PQueue from 'p-queue';

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Made at the first need, by whichever request comes first, as in real programs. */
const lazily = (make) => {
  let made;
  return () => {
    made ??= make();
    return made;
  };
};

class CallbackPool {
  #free = ['one', 'two', 'three'];
  #waiting = [];

  acquire(callback) {
    const client = this.#free.pop();
    if (client) setImmediate(callback, client);
    else this.#waiting.push(callback);
  }

  release(client) {
    const next = this.#waiting.shift();
    if (next) next(client);
    else this.#free.push(client);
  }
}

class PromisePool {
  #pool = new CallbackPool();
  acquire = () => new Promise((resolve) => this.#pool.acquire(resolve));
  release = (client) => this.#pool.release(client);
}

const callbackPool = lazily(() => new CallbackPool());
const promisePool = lazily(() => new PromisePool());
const resources = lazily(() =>
  genericPool.createPool({ create: async () => ({}), destroy: async () => {} }, { max: 3 }),
);
const queue = lazily(() => new PQueue({ concurrency: 2 }));
const bus = new EventEmitter().setMaxListeners(0);
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const loader = lazily(
  () =>
    new DataLoader(
      async (keys) => {
        await pause(2);
        return keys.map((key) => (key.endsWith('!') ? new Error('no such key') : key));
      },
      { cache: false },
    ),
);
const batch = lazily(() => {
  const jobs = [];
  setInterval(() => {
    for (const job of jobs.splice(0)) job();
  }, 5);
  return jobs;
});
/** Answers each number with itself, to the one listener that its first user has set. */
const worker = lazily(() => {
  const thread = new Worker(
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));",
    { eval: true, execArgv: [], env: {} },
  );
  const waiting = new Map();
  thread.on('message', (number) => {
    waiting.get(number)();
    waiting.delete(number);
  });
  let count = 0;
  return (callback) => {
    waiting.set(++count, callback);
    thread.postMessage(count);
  };
});

async function deep(die) {
  await pause(3);
  await (async () => {
    await null;
    die();
  })();
}

/** `own`: what runs is the request's; `shared`: its callback is called out of another's work, or out of nobody's. */
const own = {
  timer: ({ die }) => setTimeout(die, 5),
  'unreferenced-timer': ({ die }) => setTimeout(die, 5).unref(),
  interval: ({ die }) => {
    const ticks = setInterval(() => {
      clearInterval(ticks);
      die();
    }, 2);
  },
  immediate: ({ die }) => setImmediate(die),
  tick: ({ die }) => process.nextTick(die),
  microtask: ({ die }) => queueMicrotask(die),
  exit: ({ exit }) => setTimeout(exit, 5),
  'own-emitter': ({ die }) => {
    const emitter = new EventEmitter();
    emitter.on('booked', die);
    setImmediate(() => emitter.emit('booked'));
  },
  'rejection-deep': ({ die }) => void deep(die),
  'rejected-callback': ({ die }) => void Promise.resolve().then(die),
  'promise-all': ({ die }) => void Promise.all([pause(2), deep(die)]),
  rethrow: ({ die }) =>
    void (async () => {
      try {
        await deep(die);
      } catch (cause) {
        throw new Error('could not book', { cause });
      }
    })(),
  'error-handler': ({ die }) =>
    void deep(die).catch((error) =>
      setImmediate(() => {
        throw error;
      }),
    ),
  'async-generator': ({ die }) =>
    void (async () => {
      async function* rows() {
        yield 1;
        await pause(2);
        die();
      }
      for await (const row of rows()) await row;
    })(),
  'captured-rejection': ({ die }) => {
    const emitter = new EventEmitter({ captureRejections: true });
    emitter.on('booked', () => deep(die));
    setImmediate(() => emitter.emit('booked'));
  },
  pipeline: ({ die }) => {
    const failing = new Transform({
      transform(chunk, _encoding, done) {
        setImmediate(() => {
          die();
          done(null, chunk);
        });
      },
    });
    pipeline(Readable.from(['a', 'b']), failing, new PassThrough().resume(), () => {});
  },
  'pipeline-callback': ({ die }) => pipeline(Readable.from(['a']), new PassThrough().resume(), () => die()),
  'abort-listener': ({ die }) => {
    const controller = new AbortController();
    controller.signal.addEventListener('abort', die);
    setTimeout(() => controller.abort(), 3);
  },
  'abort-timeout': ({ die }) => AbortSignal.timeout(5).addEventListener('abort', die),
  'message-port': ({ die }) => {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', () => {
      port1.close();
      die();
    });
    port2.postMessage('go');
  },
  fs: ({ die }) => readFile(fileURLToPath(import.meta.url), () => die()),
  dns: ({ die }) => lookup('127.0.0.1', () => die()),
  zlib: ({ die }) => gzip('text', () => die()),
  random: ({ die }) => randomBytes(16, () => die()),
  pbkdf2: ({ die }) => pbkdf2('a', 'b', 10, 16, 'sha1', () => die()),
  child: ({ die, dies }) => dies && execFile(process.execPath, ['--version'], () => die()),
  fetch: ({ die, origin }) =>
    void (async () => {
      await (await fetch(`${origin}/peer`)).text();
      die();
    })(),
  finish: ({ die, response, leave }) => {
    response.on('finish', die);
    leave();
  },
  'after-end': ({ die, leave }) => {
    setTimeout(die, 15);
    leave();
  },
  close: ({ die, request, response }) => (response ?? request).on('close', () => die()),
  'promise-pool': ({ die }) =>
    void (async () => {
      const client = await promisePool().acquire();
      await pause(1);
      promisePool().release(client);
      die();
    })(),
  'generic-pool': ({ die }) =>
    void (async () => {
      const client = await resources().acquire();
      await pause(1);
      await resources().release(client);
      die();
    })(),
  dataloader: ({ dies, log, path }) =>
    void (async () => {
      const found = loader().load(dies ? `${path}!` : path);
      if (dies) log();
      await found;
    })(),
  'queued-result': ({ die }) =>
    void (async () => {
      await queue().add(() => pause(1));
      die();
    })(),
  'worker-promise': ({ die }) =>
    void (async () => {
      await new Promise((resolve) => worker()(resolve));
      die();
    })(),
  'bus-once': ({ die }) =>
    void (async () => {
      await once(bus, 'go');
      die();
    })(),
  'bus-iterator': ({ die }) =>
    void (async () => {
      for await (const _ of on(bus, 'go')) break;
      die();
    })(),
};
const shared = {
  'http-client': ({ die, origin }) =>
    get(`${origin}/peer`, { agent }, (reply) => reply.resume().on('end', die)),
  'callback-pool': ({ die }) =>
    callbackPool().acquire((client) => {
      setTimeout(() => callbackPool().release(client), 1);
      die();
    }),
  'callback-pool-later': ({ die }) =>
    callbackPool().acquire((client) => {
      setTimeout(() => {
        callbackPool().release(client);
        die();
      }, 1);
    }),
  'queued-job': ({ die }) =>
    void queue().add(async () => {
      await pause(1);
      setImmediate(die);
    }),
  'bus-listener': ({ die }) => bus.once('go', die),
  batch: ({ die }) => batch().push(die),
  'worker-callback': ({ die }) => worker()(die),
};

export const ways = { ...own, ...shared };
export const sharedWays = Object.keys(shared);
export const tellBus = () => setImmediate(() => bus.emit('go'));
