/**
 * Deaths that somebody wrote from the README and the issue alone, selections of seventy-five and of fifty. The truth about each was
 * written down before the first of them was run.
 */
import type { Truth } from './truths.ts';

const followed = { AGENTDUMP_CONTEXT: 'always' };

export const outsideTruths: readonly Truth[] = [
  {
    name: 'an address that is taken',
    quick: true,
    program: `const first = createServer().listen(0, '127.0.0.1'); await once(first, 'listening'); note('throws'); createServer().listen(first.address().port, '127.0.0.1');`,
    kind: 'uncaught-exception',
    cause: [/EADDRINUSE/, /from victim\.mjs:\d+/],
  },
  {
    name: 'a wrong base URL',
    replies: [{ status: 404, error: 'unknown path' }],
    program: `await ask({ path: '/v1/v1/chat/completions' });`,
    kind: 'uncaught-exception',
    cause: [/answered 404 for \S+\/v1\/v1\/chat\/completions/],
  },
  {
    name: 'an MCP server that exits during a call',
    quick: true,
    program: `
      const server = spawn(process.execPath, ['-e', "process.stdin.on('data', (text) => { if (String(text).includes('tools/call')) process.exit(3); })"]);
      const send = (rpc) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...rpc }) + '\\n');
      send({ id: 1, method: 'initialize', params: {} }); await delay(50);
      note('tool.begin', { name: 'stock' }); send({ id: 2, method: 'tools/call', params: { name: 'stock', arguments: {} } });
      const [code] = await once(server, 'close'); note('tool.threw', { name: 'stock' }); throws('inventory ended with ' + code);`,
    kind: 'uncaught-exception',
    cause: [/inventory ended with 3/, /ended with exit code 3/],
    open: [],
  },
  {
    name: 'killed after a SIGTERM that was handled and did not end it',
    supervised: true,
    signal: 'SIGTERM',
    program: `process.on('SIGTERM', () => { note('signal', { name: 'SIGTERM' }); spawn('sh', ['-c', 'sleep 2; kill -9 ' + process.pid]); }); setInterval(() => {}, 1000); setTimeout(ready, 2500);`,
    kind: 'killed',
    cause: [/^✖ Killed by SIGKILL [\d.]+ s after SIGTERM/, /A bundle of [\d.]+ \w+ before says .*SIGTERM/],
  },
  {
    name: 'a recurring timer dies after the requests that filled its cache',
    quick: true,
    env: followed,
    program: `
      let timer; const cache = [];
      const put = (response) => { cache.push(1); timer ??= setInterval(() => { if (cache.length < 3) return; note('throws'); throw new RangeError('cache is full'); }, 30); response.end(); };
      const get = await openSite({ '/a': put, '/b': put, '/c': put });
      for (const path of ['/a', '/b', '/c']) await get(path);`,
    kind: 'uncaught-exception',
    cause: [
      /^✖ RangeError: cache is full/,
      /not known: it was called by a recurring timer/,
      /GET \/a .*started/,
    ],
  },
  {
    name: 'a time limit that fires inside of a package',
    frameworks: 'agents',
    replies: [{ fault: 'silent' }],
    program: `const { generateText } = await ofAgents('ai'); const { createOpenAI } = await ofAgents('@ai-sdk/openai');
const openai = createOpenAI({ baseURL: MODEL + '/v1', apiKey: 'key' });
const patience = () => AbortSignal.timeout(500);
await generateText({ model: openai.chat('gpt-t'), prompt: 'hi', maxRetries: 0, abortSignal: patience() });`,
    kind: 'uncaught-exception',
    cause: [
      /TimeoutError: .*(?:likely at victim\.mjs:\d+|from .*post-to-api\.ts:\d+)/,
      /aborted by a time limit/,
    ],
  },
  {
    name: 'a loop whose last result nobody sent',
    replies: [{ tools: [{ id: 'call_1', name: 'search', arguments: '{"q":"oslo"}' }] }],
    program: `const messages = [{ role: 'user', content: 'find' }];
const send = async () => (await (await fetch(MODEL + '/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'gpt-t', messages }) })).json()).choices[0].message;
for (let turn = 0; turn < 6; turn++) { const asked = await send(); asked.tool_calls[0].id = 'call_' + turn; messages.push(asked, { role: 'tool', tool_call_id: 'call_' + turn, content: 'nothing' }); }
throws('not done in six turns');`,
    kind: 'uncaught-exception',
    cause: [/not done in six turns/],
    never: [/search.*running/],
  },
  {
    name: 'the clean-up of a tool throws in its place',
    program: `const connection = undefined; await tool('charge', async () => { try { throw new Error('card declined'); } finally { note('throws'); connection.close(); } });`,
    kind: 'uncaught-exception',
    cause: [/reading 'close'/, /The error was thrown by tool charge/],
    open: [],
  },
  {
    name: 'a listener of the exit throws',
    program: `process.on('exit', () => throws('no summary was written'));`,
    kind: 'uncaught-exception',
    cause: [/no summary was written/, /victim\.mjs:\d+/],
  },
  {
    name: 'a queue that the third request empties',
    env: followed,
    program: `
      const queue = [];
      const put = async (response, name) => { queue.push({ response, name }); if (queue.length < 3) return; for (const job of queue) { if (job.name.endsWith('/b')) { blame(name, 'total'); null.total; } job.response.end(); } };
      const get = await openSite({ '/a': put, '/b': put, '/c': put });
      get('/a'); await delay(100); get('/b'); await delay(100); get('/c');`,
    kind: 'unhandled-rejection',
    cause: [/^✖ GET \/c: TypeError/, /a queue, pool or emitter shared by several requests/],
    never: [/GET \/b (\(.*\) )?(threw|rejected)/],
  },
  {
    name: 'a rule that a script of node:vm evaluates',
    program: `const { default: vm } = await import('node:vm'); note('throws'); vm.runInNewContext('function price(o) { return o.net } price(order)', {}, { filename: 'rules.js' });`,
    kind: 'uncaught-exception',
    cause: [/order is not defined/, /rules\.js/],
  },
  {
    name: 'a getter that reads itself',
    program: `const order = { get total() { return this.total + 1; } }; note('throws'); order.total;`,
    kind: 'uncaught-exception',
    cause: [/Maximum call stack/, /victim\.mjs:\d+/],
  },
  {
    name: 'a command that the program stops itself after a time limit',
    program: `const { execSync } = await import('node:child_process'); note('throws'); execSync('sleep 20', { timeout: 300 });`,
    kind: 'uncaught-exception',
    cause: [/ETIMEDOUT/, /sleep 20/],
  },
  {
    name: 'the error handler of a stream fails in its turn',
    program: `const { Readable } = await import('node:stream'); const source = new Readable({ read() { this.destroy(new Error('disk was pulled')); } }); source.on('error', (error) => { note('throws'); error.detail.length; }); source.resume();`,
    kind: 'uncaught-exception',
    cause: [/reading 'length'/, /victim\.mjs:\d+/],
  },
  {
    name: 'one of two threads fails, and the main thread gives its error on',
    program: `writeFileSync('job.mjs', "import { workerData } from 'node:worker_threads'; if (workerData === 2) throw new RangeError('chunk 2 has no checksum');");
const job = (workerData) => new Promise((resolve, reject) => new Worker('./job.mjs', { workerData }).on('exit', resolve).on('error', reject));
await Promise.all([job(1), job(2)]);`,
    kind: 'uncaught-exception',
    cause: [/chunk 2 has no checksum/, /job\.mjs:1/],
  },
  {
    name: 'a command that is not installed',
    quick: true,
    program: `note('throws'); spawn('ffmpegg', ['-i', 'a.mov']);`,
    kind: 'uncaught-exception',
    cause: [/spawn ffmpegg ENOENT from victim\.mjs:\d+/, /The child process that failed was begun/],
  },
  {
    name: 'a package that prints an error and exits',
    quick: true,
    env: { AGENTDUMP_EXITS: 'all' },
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/guard');
writeFileSync('node_modules/guard/index.mjs', "export const check = () => setTimeout(function leave() { console.error(new Error('license expired')); process.exit(4); }, 20);");
const { check } = await import('./node_modules/guard/index.mjs');
note('printed', { message: 'license expired', in: 'leave' }); note('exit', { code: 4 }); check();`,
    kind: 'exit',
    cause: [/process\.exit\(4\) by guard after Error: license expired/],
  },
  {
    name: 'a stream that fails in Node, awaited by the only top-level await',
    quick: true,
    program: `import { pipeline, Readable } from 'node:stream'; import { createGunzip } from 'node:zlib'; import { promisify } from 'node:util';
note('throws'); await promisify(pipeline)(Readable.from(['this is no gzip']), createGunzip());`,
    kind: 'uncaught-exception',
    cause: [/Z_DATA_ERROR/, /likely at victim\.mjs:\d+/],
  },
  {
    name: 'a domain that throws in its turn',
    program: `const { default: domain } = await import('node:domain'); const ward = domain.create(); ward.on('error', () => throws('the domain gave up')); ward.run(() => setTimeout(() => throws('inner'), 20));`,
    kind: 'uncaught-exception',
    cause: [
      /^. Error: the domain gave up/,
      /callback for uncaught exceptions/,
      /had been given: Error: inner/,
    ],
    never: [/received an/, /not seen to return/],
  },
  {
    name: 'the handler of uncaught exceptions throws itself',
    program: `process.on('uncaughtException', (error) => { note('handler'); logger.error(error); }); setTimeout(() => throws('first fault'), 20);`,
    kind: 'uncaught-exception',
    cause: [
      /^. ReferenceError: logger is not defined at victim\.mjs:\d+/,
      /had been given: Error: first fault/,
    ],
    never: [/received an/],
  },
  {
    name: 'the handler of uncaught exceptions throws the same error again',
    quick: true,
    program: `process.on('uncaughtException', (error) => { note('handler'); throw error; }); setTimeout(() => throws('first fault'), 20);`,
    kind: 'uncaught-exception',
    cause: [/first fault at victim\.mjs:\d+/, /The handler threw it again/],
    never: [/received an/, /may have continued/],
  },
  {
    name: 'a listener of exit throws, after the program set a code',
    quick: true,
    program: `process.on('exit', function save() { throws('state is locked'); }); setTimeout(() => { process.exitCode = 3; }, 20);`,
    kind: 'uncaught-exception',
    cause: [/state is locked/, /already ending with exit code 3/, /ended the process with exit code 3/],
    never: [/exit code 1\b/],
  },
  {
    name: 'a listener of exit throws, after process.exit(0)',
    program: `process.on('exit', function save() { throws('state is locked'); }); setTimeout(() => process.exit(0), 20);`,
    kind: 'uncaught-exception',
    cause: [/state is locked/, /ended the process with exit code 0/],
  },
  {
    name: 'a rejection that only a handler of uncaught exceptions receives',
    quick: true,
    program: `process.on('uncaughtException', () => { note('handled', { message: 'no user' }); process.exit(4); });
setTimeout(async function load() { await null; throws('no user'); }, 20); await delay(3000);`,
    kind: 'unhandled-rejection',
    cause: [/no user at victim\.mjs:\d+/, /its own uncaughtException handler/, /exit code 4/],
    never: [/unhandledRejection handler/, /Node raised unhandledRejection/],
  },
  {
    name: 'a command of exec that fails, awaited by its promise',
    quick: true,
    program: `const { exec } = await import('node:child_process'); const { promisify } = await import('node:util');
async function migrate() { note('throws'); return promisify(exec)('echo "relation users is missing" >&2; exit 2'); }
await migrate();`,
    kind: 'uncaught-exception',
    cause: [
      /from victim\.mjs:\d+/,
      /The child process \d+ that failed was begun in migrate/,
      /relation users is missing/,
    ],
  },
  {
    name: 'an MCP tool that reports its failure, and the program that misses its result',
    quick: true,
    program: `
      const server = spawn(process.execPath, ['-e', "process.stdin.on('data', (text) => { if (String(text).includes('tools/call')) console.log(JSON.stringify({ jsonrpc: '2.0', id: 2, result: { isError: true, content: [{ type: 'text', text: 'sku a1 is not sold any more' }] } })); })"]);
      const send = (rpc) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...rpc }) + '\\n');
      send({ id: 1, method: 'initialize', params: {} });
      note('tool.begin', { name: 'price_of' }); send({ id: 2, method: 'tools/call', params: { name: 'price_of', arguments: { sku: 'a1' } } });
      const [line] = await once(server.stdout, 'data'); note('tool.threw', { name: 'price_of' });
      note('throws'); JSON.parse(line).result.structuredContent.price;`,
    kind: 'uncaught-exception',
    cause: [/reading 'price'/, /Tool price_of \(t1\) failed: sku a1 is not sold any more/],
    open: [],
  },
  {
    name: 'an MCP server that writes its log to its output',
    frameworks: 'agents',
    program: `
      const { Client } = await ofAgents('@modelcontextprotocol/sdk/client/index.js'); const { StdioClientTransport } = await ofAgents('@modelcontextprotocol/sdk/client/stdio.js');
      const server = "process.stdin.on('data', (text) => { for (const line of String(text).split('\\\\n').filter(Boolean)) { const rpc = JSON.parse(line); if (rpc.method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result: { protocolVersion: rpc.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'noisy', version: '1' } } })); else if (rpc.method === 'tools/call') console.log('DEBUG calling tool'); } })";
      const client = new Client({ name: 'buyer', version: '1' }); await client.connect(new StdioClientTransport({ command: process.execPath, args: ['-e', server] }));
      note('tool.begin', { name: 'stock' }); setTimeout(() => note('tool.threw', { name: 'stock' }), 550);
      await client.callTool({ name: 'stock', arguments: {} }, undefined, { timeout: 600 });`,
    kind: 'uncaught-exception',
    cause: [
      /Request timed out from victim\.mjs:\d+/,
      /The call of tool stock \(t1\) that failed was begun at victim\.mjs/,
      /wrote a line that is no message: DEBUG calling tool/,
    ],
    open: [],
  },
  {
    name: 'an error that is made at the top of the module and thrown later',
    quick: true,
    program: `const gone = new Error('flush failed', { cause: new Error('write failed') }); gone.cause.cause = gone;
async function flush() { await null; note('throws'); throw gone; }
flush().finally(() => note('finally'));`,
    kind: 'unhandled-rejection',
    cause: [/flush failed/, /Created in victim\.mjs:\d+/, /Caused by Error: write failed/],
    never: [/Thrown in/],
  },
  {
    name: 'aborted for a reason of its own, beside a time limit, and no answer yet',
    frameworks: 'agents',
    replies: [{ fault: 'silent' }],
    program: `
      const { default: OpenAI } = await ofAgents('openai'); const client = new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: MODEL + '/v1', maxRetries: 0 });
      const user = new AbortController(); function onStop() { note('throws'); user.abort(new Error('user pressed stop')); }
      setTimeout(onStop, 600);
      await client.chat.completions.create({ model: 'gpt-t', messages: [{ role: 'user', content: 'x' }] }, { signal: AbortSignal.any([user.signal, AbortSignal.timeout(30_000)]) });`,
    kind: 'uncaught-exception',
    cause: [
      /was aborted by .*onStop/,
      /user pressed stop, the reason that abort\(\) was given at victim\.mjs:\d+/,
    ],
    open: [],
  },
  {
    name: 'a server whose port another process holds, and that only says that it failed',
    quick: true,
    program: `
      const holder = spawn(process.execPath, ['-e', "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))"]);
      const [port] = await once(holder.stdout, 'data'); process.on('exit', () => holder.kill());
      function start() { createServer().on('error', () => { console.error('Failed to start server'); note('exit', { code: 1 }); process.exit(1); }).listen(Number(port), '127.0.0.1'); }
      start();`,
    kind: 'exit',
    cause: [/process\.exit\(1\) after listen EADDRINUSE 127\.0\.0\.1:\d+ from victim\.mjs:\d+/],
  },
  {
    name: 'a worker that ends with a code, and the main thread that throws because of it',
    quick: true,
    program: `
      const worker = new Worker("setTimeout(() => process.exit(2), 300)", { eval: true });
      worker.on('exit', (code) => throws('the planner left with ' + code)); setInterval(() => {}, 1000);`,
    kind: 'uncaught-exception',
    cause: [
      /the planner left with 2/,
      /A bundle of [\d.]+ \w+ before says .*Worker thread \d ended itself by process\.exit\(2\)/,
    ],
  },
  {
    name: 'all of three promises fail, and their aggregate is the cause of another error',
    quick: true,
    program: `const mirror = async (n) => { await null; note('mirror', { n }); throw new Error('mirror ' + n + ' is stale'); };
async function download() { try { return await Promise.any([mirror(1), mirror(2)]); } catch (cause) { note('throws'); throw new Error('no mirror had it', { cause }); } }
await download();`,
    kind: 'uncaught-exception',
    cause: [
      /Error: no mirror had it at victim\.mjs/,
      /Root cause: AggregateError.*It contains 2 errors, the first: Error: mirror 1 is stale at victim\.mjs/,
      /mirror 2 is stale/,
    ],
  },
  {
    name: 'a token that is no base64, in a server',
    quick: true,
    env: followed,
    program: `const get = await openSite({ '/me': async (response, name) => { blame(name); response.end(atob('%%%')); } }); await get('/me');`,
    kind: 'unhandled-rejection',
    cause: [/GET \/me: InvalidCharacterError: /],
    never: [/InvalidCharacterError \[/],
  },
];
