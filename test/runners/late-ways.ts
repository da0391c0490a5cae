/**
 * The ways in which the suites of late-cases.ts fail late, as the text of the module that they load: it runs inside each
 * runner.
 */

export const truth = `
const { execFile } = require('node:child_process');
const { EventEmitter, once } = require('node:events');
const { appendFileSync, readFile } = require('node:fs');
const http = require('node:http');
const { Readable, Transform, pipeline } = require('node:stream');
const { MessageChannel, Worker } = require('node:worker_threads');

const tell = (owner) => appendFileSync(process.env.AGENTDUMP_TEST_TRUTH, owner + '\\n');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const fail = (owner) => { tell(owner); throw new TypeError('the socket is gone'); };
const later = (owner, ms = 150) => setTimeout(() => fail(owner), ms);
const rejectLater = async (owner) => { await pause(150); await null; fail(owner); };
const serve = () => http.createServer((request, response) => {
  response.end('ok');
  if (request.url !== '/') later(request.url.slice(1), 60);
}).listen(0, '127.0.0.1').unref();
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const ask = async (server, owner = '') => {
  if (!server.listening) await once(server, 'listening');
  await new Promise((resolve, reject) => {
    http.get({ port: server.address().port, host: '127.0.0.1', path: '/' + owner, agent }, (response) => response.resume().on('end', resolve)).on('error', reject);
  });
};
const askByFetch = async (server, owner = '') => {
  if (!server.listening) await once(server, 'listening');
  await (await fetch('http://127.0.0.1:' + server.address().port + '/' + owner)).text();
};
const exitLater = (owner) => setTimeout(() => { tell(owner); process.exit(3); }, 150);

const ways = {
  emitter(owner) {
    const own = new EventEmitter().on('data', () => fail(owner));
    setTimeout(() => own.emit('data'), 150);
  },
  'awaited event'(owner) {
    const own = new EventEmitter();
    void (async () => { await once(own, 'data'); fail(owner); })();
    setTimeout(() => own.emit('data'), 150);
  },
  stream(owner) {
    const slow = Readable.from((async function* () { await pause(150); yield 'x'; })());
    pipeline(slow, new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) }), async (source) => {
      for await (const _ of source) fail(owner);
    }, (error) => { if (error) throw error; });
  },
  'awaits deep'(owner) {
    const down = async (depth) => { await pause(20); return depth === 0 ? fail(owner) : (await Promise.all([down(depth - 1)]))[0]; };
    void down(6);
  },
  'child process'(owner) {
    execFile(process.execPath, ['-e', 'setTimeout(() => {}, 150)'], { env: {} }, () => fail(owner));
  },
  'worker thread'(owner) {
    const worker = new Worker('setTimeout(() => require("node:worker_threads").parentPort.postMessage(1), 100)', { eval: true, execArgv: [], env: {} });
    worker.on('message', () => fail(owner));
    worker.unref();
  },
  'message port'(owner) {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', () => { port1.close(); fail(owner); });
    setTimeout(() => port2.postMessage(1), 150);
  },
  'open server'(owner) {
    const server = http.createServer(() => { server.close(); fail(owner); }).listen(0, '127.0.0.1', () =>
      setTimeout(() => http.get({ port: server.address().port, host: '127.0.0.1' }).on('error', () => {}), 100));
  },
  interval(owner) {
    let turns = 0;
    const timer = setInterval(() => { if (++turns === 5) { clearInterval(timer); fail(owner); } }, 30);
  },
  'abort signal'(owner) {
    AbortSignal.timeout(150).addEventListener('abort', () => fail(owner));
  },
  'file read'(owner) {
    setTimeout(() => readFile(__filename, () => process.nextTick(fail, owner)), 150);
  },
};
const leave = (way, owner) => ways[way](owner);
module.exports = { pause, fail, later, rejectLater, exitLater, leave, serve, ask, askByFetch, ways };
`;

export const wayNames = [
  'emitter',
  'awaited event',
  'stream',
  'awaits deep',
  'child process',
  'worker thread',
  'message port',
  'open server',
  'interval',
  'abort signal',
  'file read',
] as const;
