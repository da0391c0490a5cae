/** Deaths in which the account must say whose handler, abort, run or thread it was. */
import type { Truth } from './truths.ts';

export const whoseTruths: readonly Truth[] = [
  {
    name: 'a rejection that the handler of a package receives',
    quick: true,
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/@acme/agents', { recursive: true });
writeFileSync('node_modules/@acme/agents/index.js', "exports.install = () => process.on('unhandledRejection', () => process.exit(6));");
createRequire(import.meta.url)('@acme/agents').install();
setTimeout(async () => throws('late and lost'), 20); await delay(2000);`,
    kind: 'unhandled-rejection',
    cause: [/late and lost at victim\.mjs/, /A handler of @acme\/agents received it/, /index\.js:1:\d+/],
    never: [/program's own handler/],
  },
  {
    name: 'an exception that the handlers of the program and of a package receive',
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/acme', { recursive: true });
writeFileSync('node_modules/acme/index.js', "exports.install = () => process.once('uncaughtException', function note() {});");
createRequire(import.meta.url)('acme').install(); const leave = () => process.exit(4); process.on('uncaughtException', leave);
setTimeout(() => throws('boom'), 10); await delay(2000);`,
    kind: 'uncaught-exception',
    cause: [
      /Handlers of acme and of the program received it/,
      /own uncaughtException handler \(victim\.mjs:\d+:\d+\)/,
    ],
  },
  {
    name: 'anthropic: the reason of an abort that its client leaves out',
    frameworks: 'agents',
    replies: [{ fault: 'silent' }],
    // V8 lists the signals only where a death may take longer.
    env: { AGENTDUMP_HEAP: 'always' },
    program: `const { default: Anthropic } = await ofAgents('@anthropic-ai/sdk'); const client = new Anthropic({ apiKey: 'key', baseURL: MODEL, maxRetries: 0 });
const spending = new AbortController(); function stopSpending() { note('throws'); spending.abort(new Error('budget of 3 dollars spent')); }
setTimeout(stopSpending, 2500);
await client.messages.create({ model: 'claude-t', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }, { signal: spending.signal });`,
    kind: 'uncaught-exception',
    cause: [/stopSpending/, /aborted with the reason Error: budget of 3 dollars spent \(made at victim\.mjs/],
  },
  {
    name: 'langgraph: a run that nobody awaits',
    frameworks: 'agents',
    replies: [{ status: 401, error: 'bad key' }],
    program: `const { createReactAgent } = await ofAgents('@langchain/langgraph/prebuilt'); const { ChatOpenAI } = await ofAgents('@langchain/openai');
const helper = createReactAgent({ llm: new ChatOpenAI({ model: 'gpt-t', apiKey: 'key', maxRetries: 0, configuration: { baseURL: MODEL + '/v1' } }), tools: [] });
const handle = () => { helper.invoke({ messages: [{ role: 'user', content: 'Hi' }] }); };
note('throws'); handle(); await delay(30_000);`,
    kind: 'unhandled-rejection',
    cause: [
      /401 bad key from victim\.mjs:\d+/,
      /❯ \d+ │ const handle/,
      /run LangGraph that failed was begun in handle/,
    ],
  },
  {
    name: 'a worker thread that spins when the process is stopped',
    quick: true,
    signal: 'SIGTERM',
    program: `const spin = 'function mine() { for (;;) Math.random(); } setTimeout(mine, 50);';
new Worker(spin, { eval: true }); setTimeout(ready, 1500); setInterval(() => {}, 1000);`,
    kind: 'terminated',
    cause: [/Stopped by SIGTERM .*while worker thread \d+.* was busy/],
  },
  {
    name: 'a worker thread that waits when the process is stopped',
    signal: 'SIGTERM',
    program: `new Worker('setInterval(() => {}, 1000);', { eval: true }); setTimeout(ready, 1500); setInterval(() => {}, 1000);`,
    kind: 'terminated',
    cause: [/Stopped by SIGTERM/],
    never: [/was busy/],
  },
  {
    name: 'an error that was made earlier and emitted without a listener',
    quick: true,
    program: `let failure; try { readFileSync('/nope'); } catch (error) { failure = error; }
const bus = new EventEmitter();
setTimeout(() => { note('throws'); bus.emit('error', failure); }, 20); await delay(500);`,
    kind: 'uncaught-exception',
    cause: [/ENOENT/, /emitted as an error event on an EventEmitter in Timeout\._onTimeout \(victim\.mjs/],
  },
  {
    name: 'anthropic: a tool of the tool runner, in which a timer throws',
    frameworks: 'agents',
    program: `const { default: Anthropic } = await ofAgents('@anthropic-ai/sdk'); const { createServer: listen } = await import('node:http');
const reply = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-t', stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 'x' } }], usage: { input_tokens: 1, output_tokens: 1 } };
const web = listen((request, response) => request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply)))).listen(0, '127.0.0.1'); await once(web, 'listening');
const client = new Anthropic({ apiKey: 'key', baseURL: 'http://127.0.0.1:' + web.address().port });
const look = { type: 'custom', name: 'look', description: 'd', input_schema: { type: 'object', properties: { q: { type: 'string' } } }, parse: (input) => input,
  run: async () => { note('tool.begin', { name: 'look' }); setTimeout(() => throws('late in look'), 150); await delay(5000); return 'ok'; } };
await client.beta.messages.toolRunner({ model: 'claude-t', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools: [look] });`,
    kind: 'uncaught-exception',
    // Else a busy machine has no time for the list of promises.
    env: { AGENTDUMP_HEAP: 'always' },
    cause: [
      /late in look at victim\.mjs/,
      /tool look \(toolu_1\).*Object\.run \(victim\.mjs:\d+:\d+\) was suspended, awaited by @anthropic-ai\/sdk/,
    ],
  },
  {
    name: 'an error to whose stack a package appended the caller',
    quick: true,
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/rpc', { recursive: true });
writeFileSync('node_modules/rpc/index.js', \`exports.quote = (done) => { const caller = new Error().stack.split('\\\\n').slice(1).join('\\\\n');
setTimeout(() => { const error = new Error('14 UNAVAILABLE: no connection'); error.stack = error.stack + '\\\\nfor call at\\\\n' + caller; throw error; }, 20); };\`);
const { quote } = createRequire(import.meta.url)('rpc'); const priceOf = () => quote();
note('throws'); priceOf(); await delay(500);`,
    kind: 'uncaught-exception',
    cause: [
      /14 UNAVAILABLE: no connection from victim\.mjs:\d+:\d+/,
      /call that failed was begun in priceOf/,
    ],
  },
];
