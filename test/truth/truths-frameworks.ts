/**
 * Of forty deaths of servers, agents and programs, most of them with packages, whose truth was written down before the first of them was
 * run: those that were told wrongly at first, and some of each kind.
 */
import type { Truth } from './truths.ts';

const client = "maxRetries: 0, apiKey: 'key'";

export const frameworkTruths: readonly Truth[] = [
  {
    name: 'express: a promise that is rejected after the answer',
    frameworks: 'servers',
    env: { AGENTDUMP_CONTEXT: 'always' },
    program: `const app = ofServers('express')();
async function audit() { await delay(30); blame('GET /orders/9'); throw new RangeError('audit table is full'); }
app.get('/orders/:id', (request, response) => { void audit(request.params.id); response.json({}); });
const server = app.listen(0); await once(server, 'listening');
await fetch('http://127.0.0.1:' + server.address().port + '/orders/9').then((response) => response.text()); await delay(3000);`,
    kind: 'unhandled-rejection',
    cause: [
      /^. GET \/orders\/9: RangeError: audit table is full at victim\.mjs/,
      /answered [\d.]+ \w+ before/,
    ],
  },
  {
    name: 'koa: a file that is not there, and the error is thrown on',
    frameworks: 'servers',
    program: `writeFileSync('child.mjs', \`import { createReadStream } from 'node:fs'; import { createRequire } from 'node:module';
const Koa = createRequire(process.env.FRAMEWORKS + '/servers/app.cjs')('koa'); const app = new Koa();
app.on('error', (error) => { throw error; });
app.use(async function download(context) { context.body = createReadStream('missing' + context.path.slice(1)); });
const server = app.listen(0, () => fetch('http://127.0.0.1:' + server.address().port + '/report.txt').catch(() => {}));\`);
note('throws', { by: 'GET /report.txt' }); [process.exitCode] = await once(spawn(process.execPath, ['child.mjs']), 'exit');`,
    kind: 'uncaught-exception',
    cause: [/ENOENT.*likely at child\.mjs:3:/, /Likely rethrown at child\.mjs:3/],
  },
  {
    name: 'a callback throws the error of Node',
    quick: true,
    program: `writeFileSync('child.mjs', \`import { readFile } from 'node:fs';
setTimeout(() => readFile('settings.json', (error) => {
  if (error) throw error;
}), 10);\`);
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs']), 'exit');`,
    kind: 'uncaught-exception',
    cause: [/ENOENT.*settings\.json', likely at child\.mjs:3:/],
    never: [/No text gives/],
  },
  {
    name: 'one of two callbacks throws the error of Node',
    program: `writeFileSync('child.mjs', \`import { readFile, stat } from 'node:fs';
export const check = () => stat('x', (error) => { if (error) throw error; });
setTimeout(() => readFile('settings.json', (error) => { if (error) throw error; }), 10);\`);
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs']), 'exit');`,
    kind: 'uncaught-exception',
    cause: [
      /ENOENT.*likely at child\.mjs:3:/,
      /may have been rethrown at child\.mjs:2:\d+ or child\.mjs:3:\d+/,
    ],
    never: [/Likely rethrown/],
  },
  {
    name: 'a worker that runs out of memory, and nobody listens',
    program: `writeFileSync('index.mjs', "const rows = []; setTimeout(function indexAll() { for (;;) rows.push({ id: rows.length, text: 'row ' + rows.length }); }, 20);");
function startIndexer() { return new Worker(new URL('./index.mjs', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 24 } }); }
startIndexer(); await delay(20000);`,
    kind: 'worker-death',
    cause: [/Worker thread 1 ran out of memory .*, likely started at victim\.mjs:\d+/],
  },
  {
    name: 'a handler of rejections throws',
    quick: true,
    program: `process.on('unhandledRejection', function onRejection() { note('handled', { message: 'card refused' }); throw new Error('reporter is not set'); });
setTimeout(async function pay() { await null; throw new Error('card refused'); }, 20); await delay(2000);`,
    kind: 'uncaught-exception',
    cause: [/reporter is not set/, /onRejection/, /received an unhandled rejection: Error: card refused/],
    never: [/went on/],
  },
  {
    name: 'a write that would block, which is no limit of processes',
    program: `await delay(20); note('throws'); throw Object.assign(new Error('EAGAIN: resource temporarily unavailable, write'), { errno: -11, code: 'EAGAIN', syscall: 'write' });`,
    kind: 'uncaught-exception',
    cause: [/EAGAIN/, /victim\.mjs:\d+/],
    never: [/[Nn]o further process/],
  },
  {
    name: 'ai: the same call of a tool five times, until the limit of steps',
    frameworks: 'agents',
    replies: [{ tools: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }] }],
    program: `const { generateText, tool: define, stepCountIs, jsonSchema } = await ofAgents('ai'); const { createOpenAI } = await ofAgents('@ai-sdk/openai');
const model = createOpenAI({ apiKey: 'key', baseURL: MODEL + '/v1' }).chat('gpt-t');
const weather = define({ inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }), execute: async () => { note('tool.begin', { name: 'weather' }); note('tool.end', { name: 'weather' }); return 'no data'; } });
const { text } = await generateText({ model, prompt: 'Oslo?', tools: { weather }, stopWhen: stepCountIs(5) });
if (!text) throws('no answer after 5 steps');`,
    kind: 'uncaught-exception',
    cause: [/no answer after 5 steps at victim\.mjs/, /weather\(.*5 times/],
    open: [],
  },
  {
    name: 'langgraph: the limit of steps, whose message is long and whose stack is in the package',
    frameworks: 'agents',
    program: `const { Annotation, StateGraph, START } = await ofAgents('@langchain/langgraph');
const State = Annotation.Root({ n: Annotation() });
const graph = new StateGraph(State).addNode('think', async (state) => ({ n: state.n + 1 })).addEdge(START, 'think').addConditionalEdges('think', () => 'think').compile();
note('throws'); await graph.invoke({ n: 0 }, { recursionLimit: 6 });`,
    kind: 'uncaught-exception',
    cause: [
      /^. GraphRecursionError: Recursion limit of 6 reached without hitting.* from victim\.mjs:\d+:\d+ /,
    ],
    open: [],
  },
  {
    name: 'a process that can not be started, because there are too many',
    program: `setTimeout(function startTool() { note('throws'); throw Object.assign(new Error('spawn rg EAGAIN'), { errno: -11, code: 'EAGAIN', syscall: 'spawn rg' }); }, 20);`,
    kind: 'resource-exhaustion',
    cause: [/^. No further process or thread could be started \(EAGAIN\) at victim\.mjs:\d+/],
  },
  {
    name: 'mcp: a server that is killed in a call',
    frameworks: 'agents',
    program: `const { Client } = await ofAgents('@modelcontextprotocol/sdk/client/index.js'); const { StdioClientTransport } = await ofAgents('@modelcontextprotocol/sdk/client/stdio.js');
writeFileSync('srv.cjs', \`const need = require('node:module').createRequire(process.env.FRAMEWORKS + '/agents/app.cjs');
const { McpServer } = need('@modelcontextprotocol/sdk/server/mcp.js'); const { StdioServerTransport } = need('@modelcontextprotocol/sdk/server/stdio.js');
const server = new McpServer({ name: 'files', version: '1.0.0' }); server.registerTool('read_all', {}, async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });
server.connect(new StdioServerTransport());\`);
const client = new Client({ name: 'c', version: '1' }); await client.connect(new StdioClientTransport({ command: process.execPath, args: ['srv.cjs'], env: process.env }));
async function readAll() { note('throws'); return client.callTool({ name: 'read_all', arguments: {} }); }
await readAll();`,
    kind: 'uncaught-exception',
    cause: [/Connection closed/, /read_all/, /SIGKILL/, /victim\.mjs:\d+/],
  },
  {
    name: 'mcp: the server dies of a timer of its tool, and takes its client with it',
    frameworks: 'agents',
    program: `const { Client } = await ofAgents('@modelcontextprotocol/sdk/client/index.js'); const { InMemoryTransport } = await ofAgents('@modelcontextprotocol/sdk/inMemory.js'); const { McpServer } = await ofAgents('@modelcontextprotocol/sdk/server/mcp.js');
const server = new McpServer({ name: 'files', version: '1.0.0' });
server.registerTool('index_repo', {}, async () => { note('tool.begin', { name: 'index_repo' }); setTimeout(function walk() { throws('too many links'); }, 50); await delay(5000); return { content: [] }; });
const [near, far] = InMemoryTransport.createLinkedPair(); await server.connect(near); const link = new Client({ name: 'c', version: '1' }); await link.connect(far);
await link.callTool({ name: 'index_repo', arguments: {} });`,
    kind: 'uncaught-exception',
    cause: [/too many links/, /walk/, /victim\.mjs:\d+/, /index_repo/],
    miss: 'calls of a server in the same process are plain calls between two objects, which nothing reports',
  },
  {
    name: 'openai: arguments that the output limit cut',
    frameworks: 'agents',
    replies: [
      {
        finish: 'length',
        tools: [{ id: 'call_3', name: 'write_file', arguments: '{"path": "a.txt", "text": "abc' }],
      },
    ],
    program: `const { default: OpenAI } = await ofAgents('openai'); const client = new OpenAI({ ${client}, baseURL: MODEL + '/v1' });
const reply = await client.chat.completions.create({ model: 'gpt-t', messages: [{ role: 'user', content: 'write' }] });
function runTool(call) { note('throws'); return JSON.parse(call.function.arguments); }
runTool(reply.choices[0].message.tool_calls[0]);`,
    kind: 'uncaught-exception',
    cause: [/SyntaxError/, /runTool/, /arguments for write_file .* ended early/, /stopped for length/],
    open: [],
    requested: [/write_file/],
  },
];
