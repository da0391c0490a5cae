/** Deaths in Node's own code, where the error's stack has no frame of the program; and others that are easily misreported. */
import type { Truth } from './truths.ts';

const library = (code: string): string =>
  `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/pg-lite', { recursive: true }); writeFileSync('node_modules/pg-lite/index.mjs', ${JSON.stringify(code)}); const lib = await import('./node_modules/pg-lite/index.mjs');`;

export const nodeCodeTruths: readonly Truth[] = [
  {
    name: 'a library connects to a database that is not there',
    quick: true,
    program: `${library(
      `import net from 'node:net'; export const connect = (port) => { const socket = net.connect(port, '127.0.0.1'); socket.on('connect', () => {}); return socket; };`,
    )} function openDatabase() { return lib.connect(1); }\nopenDatabase(); setInterval(() => {}, 1000);`,
    kind: 'uncaught-exception',
    cause: [
      /ECONNREFUSED 127\.0\.0\.1:1 from victim\.mjs:/,
      /connection to 127\.0\.0\.1:1 that failed was begun in openDatabase/,
    ],
    never: [/is not known/],
  },
  {
    name: 'a poller whose service is down',
    quick: true,
    program: `const down = createServer().listen(0, '127.0.0.1'); await once(down, 'listening'); const { port } = down.address(); down.close(); async function readPrices() { const { request } = await import('node:http'); const asked = request('http://127.0.0.1:' + port + '/prices?key=1').end(); await once(asked, 'response'); }\nsetInterval(() => readPrices(), 30);`,
    kind: 'unhandled-rejection',
    cause: [/ECONNREFUSED/, /GET 127\.0\.0\.1:\d+\/prices that failed was begun in readPrices \(victim\.mjs/],
    never: [/key=1/],
  },
  {
    name: 'a download that is cut, through a pipeline',
    program: `const { createServer: web, get } = await import('node:http'); const { pipeline } = await import('node:stream/promises'); const { createWriteStream } = await import('node:fs'); const files = web((q, r) => { r.writeHead(200, { 'content-length': 90000 }); r.write('m'.repeat(500)); setTimeout(() => r.destroy(), 50); }).listen(0); await once(files, 'listening'); async function download() { const [reply] = await once(get('http://127.0.0.1:' + files.address().port + '/model.bin'), 'response'); await pipeline(reply, createWriteStream('model.bin')); }\nvoid download(); setInterval(() => {}, 1000);`,
    kind: 'unhandled-rejection',
    cause: [/aborted/, /\/model\.bin that failed was begun in download \(victim\.mjs/],
  },
  {
    name: 'the input of a child that reads nothing',
    program: `function startExporter() { return spawn('sh', ['-c', 'exec 0<&-; exec sleep 60']); }\nconst child = startExporter(); setInterval(() => child.stdin.write('x'.repeat(100)), 50); process.on('exit', () => child.kill());`,
    kind: 'uncaught-exception',
    cause: [/EPIPE/, /victim\.mjs/],
    never: [/worker thread/],
  },
  {
    name: 'a full disk under a stream, in a request',
    quick: true,
    env: { AGENTDUMP_CONTEXT: 'always' },
    program: `const { createWriteStream } = await import('node:fs'); const audit = createWriteStream('/dev/full'); const get = await openSite({ '/pay': (response, name) => { blame(name, 'ENOSPC'); audit.write('paid'); setTimeout(() => response.end('ok'), 2000); } }); await get('/pay');`,
    kind: 'resource-exhaustion',
    cause: [/disk is full/, /GET \/pay threw/, /WriteStream of \/dev\/full/],
  },
  {
    name: 'a body that is no gzip, in a request',
    quick: true,
    env: { AGENTDUMP_CONTEXT: 'always' },
    program: `const { createGunzip } = await import('node:zlib'); const get = await openSite({ '/import': (response, name) => { blame(name, 'incorrect header check'); createGunzip().on('data', () => {}).end('plain text'); }, '/slow': () => {} }); get('/slow'); await delay(50); await get('/import');`,
    kind: 'uncaught-exception',
    cause: [
      /GET \/import: .*incorrect header check/,
      /GET \/import threw in Node's own code; 1 other was in flight/,
      /on a Gunzip/,
    ],
  },
  {
    name: 'an emitter of a queue that is called Worker',
    quick: true,
    program: `class Worker2 extends EventEmitter {} Object.defineProperty(Worker2, 'name', { value: 'Worker' }); const worker = new Worker2(); setTimeout(() => { const cause = new TypeError('no address'); worker.emit('error', new Error('job email:42 failed', { cause })); }, 30);`,
    kind: 'uncaught-exception',
    cause: [/job email:42 failed/, /no address/, /in the main thread/],
    never: [/worker thread/, /once more/],
  },
  {
    name: 'three mirrors fail, each in its way',
    quick: true,
    program: `const none = () => (async () => readFileSync('/nowhere/list.json'))(); const late = () => new Promise((_, no) => setTimeout(() => no(new Error('mirror b is slow')), 30)); const bad = async () => { throw new RangeError('mirror c says 503'); }; await Promise.any([none(), late(), bad()]);`,
    kind: 'uncaught-exception',
    cause: [/AggregateError/, /ENOENT/, /mirror b is slow/, /mirror c says 503/],
  },
  {
    name: 'a child that parses what it was given, and its parent',
    quick: true,
    program: `writeFileSync('child.mjs', 'const read = (text) => JSON.parse(text); read(process.argv[2]);'); const child = spawn(process.execPath, ['child.mjs', '{"city": '], { stdio: 'ignore' }); const [code] = await once(child, 'exit'); throws('the tool runner ended with ' + code);`,
    kind: 'uncaught-exception',
    cause: [
      /the tool runner ended with 1/,
      /Child process \d+ \(\S+ child\.mjs.*\) ended with exit code 1: SyntaxError: .* at child\.mjs:1/,
    ],
  },
];
