// The second tainted program: places of further-places.ts, then an end as its first word says. As program.cjs in all else.
const { AsyncLocalStorage } = require('node:async_hooks');
const { readFileSync, openSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const { connect } = require('node:http2');
const { request } = require('node:http');
const { channel } = require('node:diagnostics_channel');
const { EventEmitter, once } = require('node:events');
const { PassThrough } = require('node:stream');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { spawn } = require('node:child_process');
const vm = require('node:vm');
const { Worker, MessageChannel } = require('node:worker_threads');
const [how] = process.argv.slice(2);
const plant = (
  (all) => (place) =>
    all[place]
)(JSON.parse(readFileSync(process.env.TAINT, 'utf8')));
const plugin = require(plant('plugin'));
/* SOURCE */

const host = globalThis[Symbol.for('agentdump.host')];
host?.withhold(plant('unknownPhrase'));
const kept = {};
globalThis.kept = kept;

class Vault {
  #field = plant('privateField');
  static #shared = plant('staticPrivate');
  static token = plant('staticProperty');
  get value() {
    return plant('getter');
  }
  read() {
    return [this.#field, Vault.#shared].length;
  }
}

function* remember() {
  const apiKey = plant('generatorLocal');
  yield 1;
  yield apiKey;
}

async function wait() {
  const authorization = plant('awaitingLocal');
  await new Promise(() => {});
  return authorization;
}

function keepInMemory() {
  kept.vault = new Vault();
  kept.read = kept.vault.read();
  kept.generator = remember();
  kept.generator.next();
  kept.waiting = wait();
  kept.proxy = new Proxy({ apiKey: plant('proxyTarget') }, {});
  kept.set = new Set([plant('setElement')]);
  kept.bytes = Uint8Array.from(Buffer.from(plant('typedArray')));
  kept.view = new DataView(Uint8Array.from(Buffer.from(plant('dataView'))).buffer);
  kept.shared = new Uint8Array(new SharedArrayBuffer(300));
  kept.shared.set(Buffer.from(plant('sharedMemory')).subarray(0, 300));
  kept.external = Buffer.from(`${plant('externalString')} ${'x'.repeat(1 << 20)}`).toString('latin1');
  kept.sliced = `${'a'.repeat(40)} ${plant('slicedString')} ${'b'.repeat(40)}`.slice(20, -20);
  kept.rope = [...plant('rope')].reduce((all, one) => all + one, 'rope ');
  kept.dictionary = Object.assign(Object.create(null), { password: plant('dictionary') });
  kept.symbol = Symbol.for(plant('registeredSymbol'));
  kept.bound = (() => {}).bind(null, plant('boundArgument'));
  kept.params = new URLSearchParams({ client_secret: plant('searchParams') });
  kept.headers = new Headers({ authorization: plant('headersObject') });
  kept.stream = new PassThrough();
  kept.stream.write(plant('streamChunk'));
  kept.weak = new WeakRef({ key: plant('weakRef') });
  kept.registry = new FinalizationRegistry(() => {});
  kept.registry.register(kept.weak, plant('finalizer'));
  kept.pattern = new RegExp(`^${plant('pattern')}$`);
  kept.body = new Function(`return ${JSON.stringify(plant('functionBody'))}`);
  kept.script = vm.runInThisContext('() => 1', { filename: plant('scriptName') });
  kept.emitter = new EventEmitter().on(plant('eventName'), () => {});
  const { port1, port2 } = new MessageChannel();
  port1.postMessage({ apiKey: plant('posted') });
  port2.unref();
  kept.port = port2;
  kept.timer = setTimeout(() => {}, 60_000, plant('timerArgument'));
  kept.timer.unref();
  performance.mark(plant('markName'));
  channel('taint').publish({ token: plant('channelMessage') });
  kept.file = openSync(join(__dirname, plant('openFile')), 'w');
  writeFileSync(kept.file, 'x');
}

function say() {
  console.error({ user: 'app', password: plant('inspected') });
  console.table([{ user: 'app', token: plant('table') }]);
  console.dir({ a: { b: { accessToken: plant('directory') } } }, { depth: null });
  process.emitWarning('deprecated', { detail: plant('warningDetail') });
  for (const text of ['yaml', 'toml', 'ini', 'dotenv', 'hcl', 'properties', 'history', 'historyExport'])
    console.log(plant(text));
  for (const text of ['typescript', 'jsx', 'templateString']) process.stdout.write(plant(text));
  console.log(`the phrase is ${plant('unknownPhrase')}`);
}

const quiet = (promise) => promise.catch(() => {});

async function reach() {
  const child = spawn(process.execPath, ['-e', '0'], {
    stdio: 'ignore',
    env: { ...process.env, DEPLOY_TOKEN: plant('childEnvironment') },
  });
  await once(child, 'close');
  const worker = new Worker(
    'console.log(require("node:worker_threads").workerData.log); setTimeout(() => {}, 1e5)',
    {
      eval: true,
      workerData: { token: plant('workerData'), log: plant('workerLog') },
      env: { ...process.env, WORKER_SECRET: plant('workerEnvironment') },
      argv: [plant('workerArgument')],
    },
  );
  await once(worker, 'online');
  worker.unref();
  await quiet(fetch(plant('fetchQuery')));
  await quiet(Promise.resolve().then(() => fetch(plant('fetchUserInfo'))));
  const session = connect('http://127.0.0.1:9').on('error', () => {});
  session.request({ ':path': plant('http2Path'), authorization: plant('http2Header') }).on('error', () => {});
  request({
    port: 9,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-protocol': plant('upgradeProtocol'),
    },
  })
    .on('error', () => {})
    .end();
  const server = createServer().on('error', () => {});
  server.listen(join(tmpdir(), plant('socketPath').slice(0, 60)));
  server.unref();
  await new Promise((done) => setTimeout(done, 300));
}

function makeError() {
  let missing;
  try {
    readFileSync(join('/nowhere', plant('missingFile')));
  } catch (error) {
    missing = error;
  }
  const inner = new AggregateError(
    [new AggregateError([new Error(plant('innerAggregate')), missing], 'two')],
    'all',
  );
  const error = new Error('it failed', {
    cause: { reason: inner, login: { password: plant('causeObject') } },
  });
  error.context = { a: { b: { c: { apiToken: plant('deepProperty') } } } };
  error.abort = new DOMException(plant('domException'), 'AbortError');
  error.inner = inner;
  return error;
}

const ways = {
  throw: () => {
    throw makeError();
  },
  abort: () => process.abort(),
};

const storage = new AsyncLocalStorage();
async function main() {
  // Nothing of it is to end by itself.
  setInterval(() => {}, 1000);
  keepInMemory();
  say();
  await reach();
  await plugin.pause();
  storage.run({ apiKey: plant('asyncLocal') }, () => ways[how](storage.getStore()));
}
main().catch((error) =>
  setImmediate(() => {
    throw error;
  }),
);
