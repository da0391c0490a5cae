/** Deaths whose error was passed on by a package, a client or a thread, so that its stack alone does not show where the program has its part. */
import type { Truth } from './truths.ts';

/** A package of the victim's own, and a program beside it that imports it. */
const withPackage = (code: string, child: string): string =>
  `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/acme', { recursive: true });
writeFileSync('node_modules/acme/package.json', '{"name":"acme","type":"module","exports":"./index.js"}');
writeFileSync('node_modules/acme/index.js', ${JSON.stringify(code)}); writeFileSync('child.mjs', ${JSON.stringify(child)});
note('throws'); [process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit'); note('end', { code: process.exitCode });`;

const queue = `const jobs = []; setInterval(() => { for (const job of jobs.splice(0)) job(); }, 10).unref();
export class Client { connect() { return new Promise((_, no) => jobs.push(() => no(new Error('broker is down')))); } close() {} }
export const fetchRows = async (name) => { await new Promise((done) => setTimeout(done, 10)); throw new Error('no table ' + name); };`;

export const passedOnTruths: readonly Truth[] = [
  {
    name: 'a promise of a package that nobody awaits',
    quick: true,
    program: withPackage(
      queue,
      `import { Client } from 'acme';\nconst client = new Client();\nfunction start() {\n  client.connect();\n}\nstart();\nawait new Promise((done) => setTimeout(done, 2000));\n`,
    ),
    kind: 'unhandled-rejection',
    cause: [
      /broker is down, likely at child\.mjs:4:10/,
      /❯ 4 │ client\.connect/,
      /nothing awaits or catches/,
    ],
  },
  {
    name: 'two promises of a package that nobody awaits',
    program: withPackage(
      queue,
      `import { Client } from 'acme';\nconst [client, other] = [new Client(), 0];\nconst second = new Client();\nsecond.connect();\nsecond.close();\nawait new Promise((done) => setTimeout(done, 2000));\n`,
    ),
    kind: 'unhandled-rejection',
    cause: [/broker is down/, /child\.mjs:4:8, child\.mjs:5:8.*which of these calls failed is not recorded/],
    never: [/likely at child\.mjs/],
  },
  {
    name: 'of three top-level awaits one calls the function in which the stack begins',
    quick: true,
    program: withPackage(
      queue,
      `import { fetchRows } from 'acme';\nconst pause = (ms) => new Promise((done) => setTimeout(done, ms));\nawait pause(5);\nconst rows = fetchRows;\nconst load = (name) => fetchRows(name).finally(() => {});\nconst found = load('users');\nawait pause(1);\nawait Promise.all([found, fetchRows('orders')]);\n`,
    ),
    kind: 'uncaught-exception',
    cause: [/no table/, /child\.mjs:8:1/],
  },
  {
    name: 'a client that makes an error of its own of a time limit',
    replies: [{ fault: 'silent' }],
    program: withPackage(
      `export class APIUserAbortError extends Error { constructor() { super('Request was aborted.'); this.name = 'APIUserAbortError'; } }
export async function ask(url, { signal }) { const own = new AbortController(); signal.addEventListener('abort', () => own.abort());
try { return await (await fetch(url + '/v1/chat/completions', { method: 'POST', signal: own.signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'gpt-t', messages: [{ role: 'user', content: 'Hi' }] }) })).json(); }
catch { await null; throw new APIUserAbortError(); } }`,
      `import { ask } from 'acme';\nconst limit = () => AbortSignal.timeout(2500);\nasync function summarize() {\n  return await ask(process.env.MODEL, { signal: limit() });\n}\nconsole.log(await summarize());\n`,
    ),
    kind: 'uncaught-exception',
    cause: [
      /APIUserAbortError: Request was aborted, by a time limit, likely at child\.mjs:2:21/,
      /❯ 2 │ const limit/,
      /A time limit of AbortSignal\.timeout aborted it/,
    ],
  },
  {
    name: 'a cause that is an empty object',
    quick: true,
    program: `note('throws'); throw new Error('request failed', { cause: {} });`,
    kind: 'uncaught-exception',
    cause: [/Error: request failed at victim\.mjs/],
    never: [/\[object Object\]/, /Caused by/],
  },
  {
    name: 'a cause that is a text',
    program: `note('throws'); throw new Error('request failed', { cause: 'the proxy is down' });`,
    kind: 'uncaught-exception',
    cause: [/Caused by the proxy is down/],
    never: [/Error: the proxy is down/],
  },
  {
    name: 'the error of a worker thread that the main thread throws on',
    quick: true,
    program: `writeFileSync('invoice.mjs', "import { parentPort } from 'node:worker_threads';\\nfunction parse(invoice) {\\n  return invoice.body.lines;\\n}\\nparentPort.on('message', (invoice) => {\\n  try { parse(invoice); } catch (error) { parentPort.postMessage(error); }\\n});\\n");
writeFileSync('child.mjs', "import { once } from 'node:events';\\nimport { Worker } from 'node:worker_threads';\\nconst worker = new Worker(new URL('./invoice.mjs', import.meta.url));\\nworker.postMessage({});\\nconst [error] = await once(worker, 'message');\\nthrow error;\\n");
note('throws'); [process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit'); note('end', { code: process.exitCode });`,
    kind: 'uncaught-exception',
    cause: [/reading 'lines'\) at invoice\.mjs:3:23/, /❯ 3 │ return invoice\.body\.lines/],
  },
  {
    name: 'the code in which a worker thread spins when the process is stopped',
    signal: 'SIGTERM',
    program: `writeFileSync('grind.mjs', 'function collatz(n) {\\n  for (;;) n = n % 2 ? n * 3 + 1 : n / 2 || 27;\\n}\\ncollatz(27);\\n');
new Worker(new URL('./grind.mjs', import.meta.url), { name: 'miner' }); setTimeout(ready, 1500); setInterval(() => {}, 1000);`,
    kind: 'terminated',
    cause: [/while worker thread 1.* was in collatz \(grind\.mjs:2:\d+\)/, /❯ 2 │ for \(;;\)/],
  },
];
