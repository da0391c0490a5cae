/**
 * Short programs in which something runs that reacts to deaths, signals, handles or stacks: Node's own options, and packages
 * made for it. The few lines are ours, what runs in them is not.
 */
import type { Program, Room } from './program.ts';

interface Use {
  /** Options of Node, and arguments. */
  words?: readonly string[];
  /** CommonJS, unless it begins with an import. */
  code: string;
  more?: Partial<Program>;
}

function listUses(of: string, room: Room, uses: Readonly<Record<string, string | Use>>): Program[] {
  return Object.entries(uses).map(([name, use]) => {
    const { code, words = [], more = {} } = typeof use === 'string' ? { code: use } : use;
    const file = code.startsWith('import ') ? 'use.mjs' : 'use.cjs';
    const files = { [file]: `${code}\n`, ...more.files };
    return {
      name: `${of}: ${name}`,
      package: of,
      room,
      copy: 'nothing',
      words: code === '' ? words : [...words, file],
      ...more,
      files,
    };
  });
}

const fails = "setTimeout(() => { throw new TypeError('late') }, 20);";
const says = "process.on('exit', (code) => console.log('exit', code));";
const lives = 'setTimeout(() => {}, 60_000);';
const rejects = `${says} setTimeout(() => {
  const promise = Promise.reject(new Error('nobody'));
  setTimeout(() => promise.catch(() => {}), 20);
}, 10); setTimeout(() => console.log('goes on'), 300);`;
/** What ends it must end it; what it survives, it must survive. */
const raises = (signal: string): string =>
  `setTimeout(() => process.kill(process.pid, '${signal}'), 1500); setTimeout(() => console.log('lives'), 2500);`;

const optionsOfDeaths = [
  '--trace-uncaught',
  '--trace-warnings',
  '--trace-exit',
  '--throw-deprecation',
  '--enable-source-maps',
  '--stack-trace-limit=3',
  '--disable-proto=delete',
  '--disable-proto=throw',
  '--no-addons',
  '--jitless',
  '--frozen-intrinsics',
  '--disallow-code-generation-from-strings',
  '--stack-size=300',
  '--redirect-warnings=warnings.txt',
  '--secure-heap=65536',
  '--abort-on-uncaught-exception',
  '--force-node-api-uncaught-exceptions-policy',
  '--single-threaded',
  '--predictable',
  '--random-seed=3',
  '--no-network-family-autoselection',
  '--interpreted-frames-native-stack',
];
/** Each as the program's uncaught error, and as the reason of its rejection. */
const thrown = [
  'undefined',
  'null',
  '"text"',
  'Symbol("s")',
  '({ a: 1 })',
  'new Proxy(new Error("behind"), {})',
  'Object.freeze(new Error("frozen"))',
  'Object.assign(new Error("outer"), { cause: new Error("inner"), code: "E_X" })',
  'new (class extends Error { get name() { return "Odd" } get stack() { return "its own" } })("m")',
  'new AggregateError([new Error("a"), 5], "several")',
  'new DOMException("d", "AbortError")',
  'new (require("assert").AssertionError)({ actual: 1, expected: 2, operator: "equal" })',
  'require("vm").runInNewContext("new Error(1)")',
  '({ [Symbol.toPrimitive]() { process.exit(44) } })',
  '({ get stack() { process.exit(45) } })',
  '({ toString() { throw 1 } })',
  'Object.assign(new Error("i"), { [require("util").inspect.custom]: () => "inspected" })',
];
const signals = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR2',
  'SIGPIPE',
  'SIGWINCH',
  'SIGALRM',
  'SIGABRT',
];

const each = <Key extends string>(
  keys: readonly Key[],
  make: (key: Key) => readonly [string, string | Use],
) => Object.fromEntries(keys.map(make));

const ofNode: Readonly<Record<string, string | Use>> = {
  ...each(optionsOfDeaths, (option) => [
    option,
    { words: [option], code: `new Buffer(1); ${says} ${fails}` },
  ]),
  ...each(['strict', 'warn', 'none', 'warn-with-error-codes', 'throw'], (mode) => [
    `--unhandled-rejections=${mode}`,
    { words: [`--unhandled-rejections=${mode}`], code: rejects },
  ]),
  ...each(thrown, (value) => [`throws ${value}`, `setTimeout(() => { throw ${value} }, 10)`]),
  ...each(thrown, (value) => [`rejects with ${value}`, `setTimeout(() => { Promise.reject(${value}) }, 10)`]),
  ...each(signals, (signal) => [`sends itself ${signal}`, raises(signal)]),
  'a program from stdin': { code: '', words: ['-'], more: { stdin: `console.log(__filename); ${fails}` } },
  'the REPL': {
    code: '',
    words: ['-i'],
    more: { stdin: 'let a = 1\na + 1\nthrow new Error("r")\nPromise.reject(new Error("p"))\n.help\n.exit\n' },
  },
  'a loop out of memory': {
    words: ['--max-old-space-size=40'],
    code: 'const a = []; for (;;) a.push(new Array(1e5).fill({}))',
  },
  'a recursion without end': 'const again = () => again() + 1; setTimeout(again, 5)',
  'a domain that handles': `const domain = require('domain').create();
domain.on('error', ({ message }) => console.log(message)); domain.run(() => { ${fails} });`,
  'a domain whose handler throws': `const domain = require('domain').create();
domain.on('error', () => { throw new Error('second') }); domain.run(() => { ${fails} });`,
  'a callback that captures': `process.setUncaughtExceptionCaptureCallback(({ message }) => { console.log(message); process.exitCode = 3 }); ${fails}`,
  'a handler that throws': `process.on('uncaughtException', () => { throw new Error('second') }); ${fails}`,
  'a handler that goes on': `let heard = 0; process.on('uncaughtException', ({ message }, origin) => console.log(++heard, message, origin));
const timer = setInterval(() => { if (heard < 5) throw new Error('again'); clearInterval(timer) }, 30);`,
  'a signal handler, once': `process.once('SIGTERM', () => console.log('first')); for (const ms of [1400, 1800]) setTimeout(() => process.kill(process.pid, 'SIGTERM'), ms); ${lives}`,
  'a signal handler that is removed': `const handle = () => {}; process.on('SIGINT', handle);
setTimeout(() => { process.off('SIGINT', handle); process.kill(process.pid, 'SIGINT') }, 1500); ${lives}`,
  'a cluster that restarts its workers': `const cluster = require('cluster'); const deaths = [() => { throw new Error('first') }, () => process.exit(7), () => process.kill(process.pid, 'SIGTERM'), () => cluster.worker.disconnect()];
if (cluster.isWorker) setTimeout(deaths[process.env.N], 50);
else (function start(n) { cluster.fork({ N: n }).on('exit', (code, signal) => { console.log(n, code, signal); if (n < 3) start(n + 1); }); })(0);`,
  'workers that die': `const { Worker } = require('worker_threads'); const run = (code, more) => new Promise((resolve) => {
  new Worker(code, { eval: true, ...more }).on('error', ({ message }) => console.log(message)).on('exit', (code) => resolve(console.log(code))); });
(async () => { await run('throw new Error("thrown")'); await run('process.exit(4)'); await run('Promise.reject(new Error("rejected"))'); await run('process.exitCode = 6');
  await run('const a = []; for (;;) a.push(new Array(1000).fill(1.5).map(String))', { resourceLimits: { maxOldGenerationSizeMb: 16 } }); })();`,
  'a child by fork': `const { fork } = require('child_process'); if (process.argv[2]) { process.on('message', () => { throw new Error('child') }); process.send(new Map([[1, 2]])) }
else fork(__filename, ['child'], { serialization: 'advanced' }).on('message', function (said) { console.log(said); this.send(1) }).on('exit', (...end) => console.log(end));`,
  'children with limits': `const { exec, spawnSync } = require('child_process');
exec('node -e "setTimeout(() => {}, 60000)"', { timeout: 900 }, ({ killed, signal, code }) => console.log(killed, signal, code, spawnSync(process.execPath, ['-e', 'for (;;);'], { timeout: 800 }).signal));`,
  'much output before an exit':
    "for (let i = 0; i < 3000; i++) console.log('y'.repeat(1000)); process.exit(3)",
  'much output before a throw':
    "for (let i = 0; i < 3000; i++) console.log('z'.repeat(1000)); throw new Error('end')",
  'hooks for modules': {
    words: ['--import', './register.mjs'],
    code: "import said from 'virtual:said'; console.log(said); throw new Error('after')",
    more: {
      files: {
        'register.mjs': "import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);",
        'hooks.mjs': `export const resolve = (name, context, next) => name === 'virtual:said' ? { url: name, format: 'module', shortCircuit: true } : next(name, context);
export const load = (url, context, next) => url === 'virtual:said' ? { format: 'module', source: 'export default 42', shortCircuit: true } : next(url, context);`,
      },
    },
  },
  'a top-level await that never ends': "import 'node:fs'; console.log('begins'); await new Promise(() => {})",
  'a stack of its own format': `Error.prepareStackTrace = (error, sites) => sites.map((site) => site.getFunctionName()).join();
setTimeout(function named() { console.log(new Error('x').stack); throw new Error('y') }, 20)`,
  'its stacks, late':
    'Error.stackTraceLimit = 100; setTimeout(function late() { console.log(new Error("s").stack); process.once("said", () => console.log(new Error("t").stack)); process.emit("said") }, 2300)',
  'a sampling profiler of its own': `const { Session } = require('inspector'); const session = new Session(); session.connect(); session.post('Profiler.enable');
session.post('Profiler.start', () => setTimeout(() => session.post('Profiler.stop', (_, { profile }) => { console.log(profile.nodes.length > 0); throw new Error('end') }), 1500));`,
};

const byPackage: Readonly<Record<string, Readonly<Record<string, string | Use>>>> = {
  'signal-exit': {
    'a signal': `const { onExit } = require('signal-exit'); onExit((...how) => console.log(how)); ${raises('SIGTERM')}`,
    'an error': `const { onExit } = require('signal-exit'); onExit((...how) => console.log(how)); ${fails}`,
  },
  'exit-hook': {
    'a signal': `import exitHook, { asyncExitHook } from 'exit-hook'; exitHook((code) => console.log('at once', code));
asyncExitHook(async (code) => { await new Promise((resolve) => setTimeout(resolve, 50)); console.log('later', code) }, { wait: 500 });
setTimeout(() => process.kill(process.pid, 'SIGINT'), 2300); ${lives}`,
  },
  death: {
    'an error': `const on = require('death')({ uncaughtException: true }); on((signal, error) => { console.log(signal, error.message); process.exit(4) }); ${fails}`,
    'a signal': `require('death')((signal) => { console.log(signal); process.exit(5) }); setTimeout(() => process.kill(process.pid, 'SIGTERM'), 1500); ${lives}`,
  },
  'async-exit-hook': {
    'a rejection': `const hook = require('async-exit-hook'); hook((done) => { console.log('hook'); setTimeout(done, 50) });
hook.uncaughtExceptionHandler(({ message }) => console.log(message)); hook.unhandledRejectionHandler(({ message }) => console.log(message)); Promise.reject(new Error('r'))`,
  },
  'why-is-node-running': {
    'a server': `import why from 'why-is-node-running'; import { createServer } from 'node:net';
const server = createServer().listen(0); setTimeout(() => { why(); server.close() }, 2500)`,
  },
  'cls-hooked': {
    'an error': `const space = require('cls-hooked').createNamespace('x'); space.run(() => { space.set('a', 1); setTimeout(() => { console.log(space.get('a')); throw new Error('in it') }, 10) })`,
  },
  'zone.js': {
    'a zone that handles': `require('zone.js'); const zone = Zone.current.fork({ name: 'z', onHandleError: (delegate, current, target, error) => { console.log(error.message); return false } });
zone.run(() => { ${fails} }); setTimeout(() => Promise.reject(new Error('rejected')), 100)`,
  },
  '@grpc/grpc-js': {
    'calls that fail': `const grpc = require('@grpc/grpc-js'); const same = (bytes) => bytes; const path = '/x/Say';
const service = { Say: { path, requestStream: false, responseStream: false, requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same } };
const server = new grpc.Server(); server.addService(service, { Say: ({ request }, answer) => { if (String(request) === 'throw') throw new Error('handler'); answer(String(request) === 'bad' ? { code: 3, message: 'invalid' } : null, request) } });
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), async (_, port) => {
  const client = new (grpc.makeGenericClientConstructor(service, 'x'))('127.0.0.1:' + port, grpc.credentials.createInsecure());
  for (const text of ['good', 'bad', 'throw']) await new Promise((resolve) => client.Say(Buffer.from(text), (error, reply) => resolve(console.log(error?.code, error?.details, String(reply)))));
  client.close(); server.forceShutdown(); });`,
  },
  stoppable: {
    'a signal': `const http = require('http'); const server = require('stoppable')(http.createServer((_, response) => setTimeout(() => response.end(), 200)));
process.on('SIGTERM', () => server.stop((error, graceful) => console.log(error, graceful)));
server.listen(0, () => { http.get({ port: server.address().port }, (response) => response.resume().on('end', () => console.log('answered'))); setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50) })`,
  },
  '@godaddy/terminus': {
    'a signal': `const server = require('http').createServer(); require('@godaddy/terminus').createTerminus(server, { signals: ['SIGTERM'], timeout: 500, onSignal: async () => console.log('cleans'), onShutdown: async () => console.log('ends') });
server.listen(0, () => setTimeout(() => process.kill(process.pid, 'SIGTERM'), 1500))`,
  },
};

/** They need no package; the room has only to be there. */
export const usesOfNode: readonly Program[] = listUses('node', 'tools', ofNode);
export const usesByPackage: readonly Program[] = Object.entries(byPackage).flatMap(([of, uses]) =>
  listUses(of, 'services', uses),
);
