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
];
