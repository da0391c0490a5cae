/**
 * Twenty deaths of servers, agents and scripts, most of them with real frameworks (`test/servers`, `test/agents`). The truth
 * about each was written down before the first of them was run.
 */
import type { Truth } from './truths.ts';

const exits = { AGENTDUMP_EXITS: 'all' };
const small = { maxRetries: 0, apiKey: 'key' };

export const trialTruths: readonly Truth[] = [
  {
    name: 'fastify: a timer of one request throws, beside another request',
    frameworks: 'servers',
    program: `const app = ofServers('fastify')();
app.get('/slow', () => delay(5000));
app.get('/orders/:id', (request) => { note('request.begin', { name: 'GET ' + request.url }); return new Promise(() => setTimeout(function reserve() { blame('GET ' + request.url, 'no stock'); throw new Error('no stock'); }, 30)); });
const url = await app.listen({ port: 0 });
fetch(url + '/slow').catch(() => {}); await delay(100);
note('request.begin', { name: 'GET /slow' });
await fetch(url + '/orders/17');`,
    kind: 'uncaught-exception',
    cause: [/no stock/, /GET \/orders\/17/, /reserve/, /victim\.mjs:\d+/, /1 other was in flight/],
    never: [/GET \/slow (\(.*\) )?threw/],
  },
  {
    name: 'express: an error handler that prints and leaves',
    frameworks: 'servers',
    env: exits,
    program: `const app = ofServers('express')();
async function findUser(id) { await delay(5); throw new RangeError('no such user ' + id); }
app.get('/users/:id', async (request) => { await findUser(request.params.id); });
app.use((error, _request, _response, _next) => { note('printed', { message: error.message, in: 'findUser' }); console.error(error); note('exit', { code: 1 }); process.exit(1); });
const server = app.listen(0); await once(server, 'listening');
await fetch('http://127.0.0.1:' + server.address().port + '/users/7');`,
    kind: 'exit',
    cause: [/process\.exit\(1\)/, /RangeError: no such user 7/, /findUser/, /printed/],
    never: [/on stderr: at /],
  },
  {
    name: 'koa: a text that is thrown in a timer',
    frameworks: 'servers',
    program: `const Koa = ofServers('koa'); const app = new Koa();
function print() { note('throws', { by: 'GET /print', in: 'print' }); throw 'out of paper'; }
app.use(async (context) => { setTimeout(print, 20); await delay(1000); context.body = 'ok'; });
const server = app.listen(0); await once(server, 'listening');
await fetch('http://127.0.0.1:' + server.address().port + '/print');`,
    kind: 'uncaught-exception',
    cause: [/out of paper/, /[Ll]ikely (at|thrown in)/, /victim\.mjs:\d+/, /GET \/print/],
  },
  {
    name: 'hono: a promise that nobody awaits is rejected with an object',
    frameworks: 'servers',
    program: `const { Hono } = ofServers('hono'); const { serve } = ofServers('@hono/node-server');
const app = new Hono(); const spend = async () => { await delay(10); note('throws', { by: 'GET /spend', in: 'spend' }); throw { code: 'E_QUOTA', left: 0 }; };
app.get('/spend', (c) => { spend(); return c.text('ok'); });
const server = serve({ fetch: app.fetch, port: 0 }); await once(server, 'listening');
await fetch('http://127.0.0.1:' + server.address().port + '/spend'); await delay(3000);`,
    kind: 'unhandled-rejection',
    cause: [/E_QUOTA/, /victim\.mjs:\d+/],
    never: [/in Node's own code/],
  },
  {
    name: 'pino: an error that is logged, and the end a moment later',
    frameworks: 'servers',
    env: exits,
    program: `const log = ofServers('pino')();
async function openDatabase() { throw new Error('db refused'); }
await openDatabase().catch((err) => { note('printed', { message: err.message, in: 'openDatabase' }); note('logged', { words: 'cannot start' }); log.fatal({ err }, 'cannot start'); });
setTimeout(function leave() { note('exit', { code: 2 }); process.exit(2); }, 30);`,
    kind: 'exit',
    cause: [
      /process\.exit\(2\)/,
      /leave/,
      /db refused/,
      /openDatabase/,
      /logged a fatal error: cannot start/,
    ],
    never: [/"level"/],
  },
  {
    name: 'a worker with a name throws, and nobody listens',
    program: `writeFileSync('resize.mjs', "setTimeout(() => { throw new Error('bad image'); }, 20);");
new Worker(new URL('./resize.mjs', import.meta.url), { name: 'resizer-2' }); await delay(5000);`,
    kind: 'uncaught-exception',
    cause: [/bad image/, /resizer-2/, /resize\.mjs:1/],
    never: [/in the main thread, \d/],
  },
  {
    name: 'a worker that rejects with null, which once() passes on to the module that awaits the end',
    program: `writeFileSync('poll.mjs', 'await new Promise((_, fail) => setTimeout(() => fail(null), 20));');
const worker = new Worker(new URL('./poll.mjs', import.meta.url)); worker.on('error', () => {});
await once(worker, 'exit'); throws('the poller ended');`,
    kind: 'uncaught-exception',
    cause: [/[Tt]hrown null/],
    never: [/[Ll]ikely thrown/, /the poller ended/],
  },
  {
    name: 'a migration of execFileSync fails',
    program: `const { execFileSync } = await import('node:child_process');
writeFileSync('child.mjs', "function addColumn() { throw new Error('no such table'); }\\naddColumn();");
execFileSync(process.execPath, ['child.mjs'], { stdio: 'pipe' });`,
    kind: 'uncaught-exception',
    cause: [/Command failed/, /no such table/, /child\.mjs:1/, /exit code 1/],
    never: [/outside/],
  },
  {
    name: 'a child of spawnSync is killed, and its parent throws',
    program: `const { spawnSync } = await import('node:child_process');
const { signal } = spawnSync('sh', ['-c', 'kill -9 $$']); throws('converter ended by ' + signal);`,
    kind: 'uncaught-exception',
    cause: [/converter ended by SIGKILL/],
    never: [/[Kk]illed by SIGKILL/, /outside/],
    open: [],
  },
  {
    name: 'openai: the key is refused',
    frameworks: 'agents',
    replies: [{ status: 401, error: 'bad key' }],
    program: `const { default: OpenAI } = await ofAgents('openai');
const client = new OpenAI({ ...${JSON.stringify(small)}, baseURL: MODEL + '/v1' });
async function plan() { return client.chat.completions.create({ model: 'gpt-t', messages: [{ role: 'user', content: 'plan' }] }); }
await plan();`,
    kind: 'uncaught-exception',
    cause: [/401/, /bad key/, /victim\.mjs:\d+/],
    never: [/waiting for/, /no byte of a reply/],
    open: [],
  },
  {
    name: 'anthropic: overloaded three times',
    frameworks: 'agents',
    replies: [{ status: 529, error: 'Overloaded' }],
    program: `const { default: Anthropic } = await ofAgents('@anthropic-ai/sdk');
const client = new Anthropic({ apiKey: 'key', maxRetries: 2, baseURL: MODEL });
await client.messages.create({ model: 'claude-t', max_tokens: 9, messages: [{ role: 'user', content: 'plan' }] });`,
    kind: 'uncaught-exception',
    cause: [/529/, /3 times|attempt 3|the last of 3 consecutive calls/, /victim\.mjs:\d+/],
    open: [],
  },
  {
    name: 'ai: a tool fails, the model is told, and the program trips over the result',
    frameworks: 'agents',
    replies: [
      { tools: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }] },
      { text: 'sorry' },
    ],
    program: `const { generateText, tool: define, stepCountIs, jsonSchema } = await ofAgents('ai'); const { createOpenAI } = await ofAgents('@ai-sdk/openai');
const model = createOpenAI({ apiKey: 'key', baseURL: MODEL + '/v1' }).chat('gpt-t');
const weather = define({ inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }), execute: async () => { note('tool.begin', { name: 'weather' }); note('tool.threw', { name: 'weather' }); throw new Error('station down'); } });
const { toolResults } = await generateText({ model, prompt: 'Oslo?', tools: { weather }, stopWhen: stepCountIs(3) });
console.log(toolResults[0].output.temperature);`,
    kind: 'uncaught-exception',
    cause: [/TypeError/, /victim\.mjs:\d+/, /station down/],
    never: [/thrown by tool weather/],
    open: [],
  },
  {
    name: 'a gateway on a path of its own fails',
    replies: [{ status: 502, error: 'no upstream' }],
    program: `await delay(10); await ask({ path: '/llm/ask' });`,
    kind: 'uncaught-exception',
    cause: [/model answered 502/, /[Mm]odel call/, /502/],
    open: [],
  },
  {
    name: 'an embedding service fails, which is no model call',
    replies: [{ status: 500, error: 'index down' }],
    program: `const reply = await fetch(MODEL + '/embeddings', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input: ['a', 'b'] }) });
await reply.text(); throws('index answered ' + reply.status);`,
    kind: 'uncaught-exception',
    cause: [/index answered 500/],
    never: [/[Mm]odel call/],
    open: [],
  },
  {
    name: 'an import that never ends, inside of another module',
    program: `writeFileSync('settings.mjs', 'const wait = new Promise(() => {});\\nexport default await wait;');
const [settings] = await Promise.all([import('./settings.mjs')]); console.log(settings);`,
    kind: 'pending-exit',
    cause: [/exit code 13/, /victim\.mjs:\d+/, /settings\.mjs:2/],
    never: [/PipeWrap/],
  },
  {
    name: 'langgraph: a node fails',
    frameworks: 'agents',
    program: `const { Annotation, StateGraph, START, END } = await ofAgents('@langchain/langgraph');
const State = Annotation.Root({ city: Annotation() });
async function forecast() { await delay(5); throws('no forecast'); }
const graph = new StateGraph(State).addNode('locate', async () => ({ city: 'Oslo' })).addNode('forecast', forecast).addEdge(START, 'locate').addEdge('locate', 'forecast').addEdge('forecast', END).compile();
await graph.invoke({ city: '?' });`,
    kind: 'uncaught-exception',
    cause: [/no forecast/, /forecast/, /victim\.mjs:\d+/],
    never: [/step locate failed/],
    open: [],
  },
  {
    name: 'a structured error line before an unrelated end',
    program: `note('logged', { words: 'cache lost' }); console.log(JSON.stringify({ level: 'error', timestamp: new Date().toISOString(), message: 'cache lost', error: { name: 'Error', message: 'redis gone' } }));
await delay(50); throws('no plan');`,
    kind: 'uncaught-exception',
    cause: [/no plan/, /logged an error: cache lost \(Error: redis gone\)/],
    never: [/"level"/],
  },
  {
    name: 'a reason of an abort that is a text',
    program: `const control = new AbortController(); setTimeout(() => control.abort('user left'), 50);
await delay(5000, undefined, { signal: control.signal }).catch(() => { throw control.signal.reason; });`,
    kind: 'uncaught-exception',
    cause: [/user left/, /[Ll]ikely/, /victim\.mjs:\d+/],
  },
  {
    name: 'an object of a class that is no error',
    program: `class Refusal { constructor(rule) { this.rule = rule; } }
function check(order) { if (order.sum > 9) { note('throws', { in: 'check' }); throw new Refusal('R7'); } }
setTimeout(() => check({ sum: 10 }), 10);`,
    kind: 'uncaught-exception',
    cause: [/R7/, /[Ll]ikely/, /check/, /victim\.mjs:\d+/],
  },
  {
    name: 'an error that main catches, prints, and answers with an exit code',
    env: exits,
    program: `async function connectToBroker() { await delay(5); throw new Error('broker refused'); }
async function main() { await connectToBroker(); }
await main().catch((error) => { note('printed', { message: error.message, in: 'connectToBroker' }); console.error('failed:', error); note('exit.code', { code: 3 }); process.exitCode = 3; });`,
    kind: 'exit',
    cause: [/code 3/, /broker refused/, /connectToBroker/, /printed/],
    never: [/process\.exit\(3\)/],
  },
];
