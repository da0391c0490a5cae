/**
 * From 66 deaths whose truth was written down before the first of them was run: values that are no plain errors, code that runs at odd
 * moments (getters, iterators, transforms, finalizers, proxies), services and children that fail, and what was told incompletely at first.
 */
import type { Truth } from './truths.ts';

const uncaught = 'uncaught-exception';

export const earlyEndTruths: readonly Truth[] = [
  {
    name: 'a child fails, and nobody reads its standard error',
    quick: true,
    program: `writeFileSync('convert.cjs', "console.error('convert: cannot open input.png'); process.exit(3)");
const child = spawn(process.execPath, ['convert.cjs'], { env: { ...process.env, NODE_OPTIONS: '' } });
child.on('close', (code) => { note('throws'); throw new Error('convert exited with ' + code); });`,
    kind: uncaught,
    cause: [/convert exited with 3 at victim\.mjs:\d+/, /its last words: convert: cannot open input\.png/],
  },
  {
    name: 'a node of a graph fails, and the caller of the graph catches nothing',
    frameworks: 'agents',
    program: `const { StateGraph, START, END, Annotation } = await ofAgents('@langchain/langgraph');
const State = Annotation.Root({ q: Annotation(), docs: Annotation() });
async function retrieve() { await delay(5); note('throws'); throw new Error('embedding has 3 dimensions, not 4'); }
const graph = new StateGraph(State).addNode('retrieve', retrieve).addEdge(START, 'retrieve').addEdge('retrieve', END).compile();
(async () => graph.invoke({ q: 'why' }))();`,
    kind: 'unhandled-rejection',
    cause: [
      /embedding has 3 dimensions, not 4 at victim\.mjs:\d+/,
      /Step retrieve \(s\d+\), in run LangGraph, failed with this error/,
    ],
  },
  {
    name: 'a getter throws',
    program: `class Invoice { get total() { note('throws'); throw new RangeError('total is not computed'); } }
setTimeout(() => String(new Invoice().total), 5);`,
    kind: uncaught,
    cause: [/RangeError: total is not computed at victim\.mjs:\d+/],
  },
  {
    name: 'toJSON throws below JSON.stringify',
    program: `const order = { toJSON() { note('throws'); throw new TypeError('order 7 has no owner'); } };
setTimeout(() => JSON.stringify({ orders: [order] }), 5);`,
    kind: uncaught,
    cause: [/TypeError: order 7 has no owner at victim\.mjs:\d+/],
  },
  {
    name: 'a trap of a proxy throws',
    program: `const settings = new Proxy({}, { get(_, key) { note('throws'); throw new ReferenceError('no setting named ' + String(key)); } });
setTimeout(() => settings.retries, 5);`,
    kind: uncaught,
    cause: [/ReferenceError: no setting named retries at victim\.mjs:\d+/],
  },
  {
    name: 'a transform hands an error to its callback',
    quick: true,
    program: `const { Transform, Readable } = await import('node:stream'); let n = 0;
const check = new Transform({ objectMode: true, transform(row, _, done) {
  if (++n === 2) note('throws');
  done(n === 2 ? new Error('checksum of part 2 is wrong') : null, row); } });
Readable.from(['a', 'b', 'c']).pipe(check).resume();`,
    kind: uncaught,
    cause: [/checksum of part 2 is wrong at victim\.mjs:\d+/, /emitted as an error event/],
  },
  {
    name: 'an async generator fails between two rows',
    program: `async function* rows() { yield 1; await delay(5); note('throws'); throw new Error('cursor expired'); }
(async () => { for await (const row of rows()) void row; })();`,
    kind: 'unhandled-rejection',
    cause: [/cursor expired at victim\.mjs:\d+/],
  },
  {
    name: 'a listener of an AbortSignal throws',
    program: `const controller = new AbortController();
controller.signal.addEventListener('abort', function cleanUp() { note('throws'); throw new Error('clean-up of the upload failed'); });
setTimeout(() => controller.abort(), 10);`,
    kind: uncaught,
    cause: [/clean-up of the upload failed at victim\.mjs:\d+/],
  },
  {
    name: 'a frozen error of a class without a name of its own',
    program: `class SealedError extends Error {}
setTimeout(() => { const sealed = Object.freeze(new SealedError('sealed envelope')); note('throws'); throw sealed; }, 5);`,
    kind: uncaught,
    cause: [/SealedError: sealed envelope at victim\.mjs:\d+/],
  },
  {
    name: 'all mirrors of a download are down',
    program: `const mirror = async (name) => { await delay(5); throw new Error('mirror ' + name + ' is down'); };
(async () => { await Promise.any([mirror('one'), mirror('two')]); })(); note('throws');`,
    kind: 'unhandled-rejection',
    cause: [/All promises were rejected/, /mirror one is down/, /mirror two is down/],
  },
  {
    name: 'a plain HTTP server is asked over TLS',
    program: `const web = (await import('node:http')).createServer((_, reply) => reply.end('x')).listen(0, '127.0.0.1'); await once(web, 'listening');
async function ping() { return fetch('https://127.0.0.1:' + web.address().port + '/secure'); }
note('throws'); ping();`,
    kind: 'unhandled-rejection',
    cause: [/fetch failed from victim\.mjs:\d+/, /wrong version number|WRONG_VERSION_NUMBER/i],
  },
  {
    name: 'a write to a full disk whose message has no path',
    quick: true,
    program: `setTimeout(function saveReport() { note('throws'); writeFileSync('/dev/full', 'x'); }, 5);`,
    kind: 'resource-exhaustion',
    cause: [/The disk is full \(ENOSPC\) at victim\.mjs:\d+/],
    never: [/the path in the message/],
  },
  {
    name: 'a trap of WebAssembly',
    program: `const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 7, 1, 3, 114, 117, 110, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
const { instance } = await WebAssembly.instantiate(bytes);
setTimeout(function runPlugin() { note('throws'); instance.exports.run(); }, 5);`,
    kind: uncaught,
    cause: [/RuntimeError: unreachable .*victim\.mjs:\d+/],
  },
];
