/**
 * Of deaths of agents, servers, queues and command lines on real packages, whose truth was written down before the first of them was
 * run: those that were told wrongly or incompletely at first.
 */
import type { Truth } from './truths.ts';

export const unseenTruths: readonly Truth[] = [
  {
    name: 'anthropic: the client tries a call three times, which is no loop of the agent',
    frameworks: 'agents',
    replies: [{ status: 529, headers: { 'retry-after': '0' }, error: 'Overloaded' }],
    program: `const { default: Anthropic } = await ofAgents('@anthropic-ai/sdk'); const client = new Anthropic({ apiKey: 'key', baseURL: MODEL, maxRetries: 2 });
const reply = await client.messages.create({ model: 'claude-t', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }).catch(() => ({}));
note('throws'); reply.content.map(String);`,
    kind: 'uncaught-exception',
    cause: [/reading 'map'/, /529 .*3 times in a row/],
    never: [/Loop:/],
  },
  {
    name: 'a time limit whose error reaches the only top-level await',
    quick: true,
    program: `writeFileSync('child.mjs', \`const limit = (ms) => AbortSignal.timeout(ms);
const until = (signal, work) => Promise.race([work, new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))]);
console.log(await until(limit(50), new Promise((done) => setTimeout(done, 5000))));\`);
note('throws'); [process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit'); note('end', { code: process.exitCode });`,
    kind: 'uncaught-exception',
    cause: [
      /TimeoutError: The operation was aborted due to timeout, likely at child\.mjs:1:23/,
      /❯ 1 │ const limit/,
      /child\.mjs:3:13 is the only top-level await/,
      /AbortSignal\.timeout is called at child\.mjs:1:23/,
    ],
  },
  {
    name: 'openai: aborted by a function of the program, which its client does not show',
    frameworks: 'agents',
    replies: [{ fault: 'silent' }],
    program: `const { default: OpenAI } = await ofAgents('openai'); const client = new OpenAI({ apiKey: 'key', baseURL: MODEL + '/v1', maxRetries: 0 });
const tab = new AbortController(); let last;
function closeTab() { note('throws'); tab.abort(new Error('user closed the tab')); }
setTimeout(closeTab, 300);
client.chat.completions.create({ model: 'gpt-t', messages: [] }, { signal: tab.signal }).then((reply) => { last = reply; }); await delay(60_000);`,
    kind: 'unhandled-rejection',
    cause: [
      /Request was aborted at victim\.mjs:\d+:\d+/,
      /❯ \d+ │ function closeTab/,
      /aborted by Timeout\.closeTab/,
      /victim\.mjs:\d+:\d+, where abort\(\) was called/,
    ],
  },
  {
    name: 'openai agents: a tool is at work in the only step when the time limit ends the run',
    frameworks: 'agents',
    replies: [{ tools: [{ id: 'call_1', name: 'slow_search', arguments: '{"q":"x"}' }] }],
    program: `const { Agent, Runner, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool: make } = await ofAgents('@openai/agents'); const { default: OpenAI } = await ofAgents('openai');
setTracingDisabled(true); setDefaultOpenAIClient(new OpenAI({ apiKey: 'key', baseURL: MODEL + '/v1' })); setOpenAIAPI('chat_completions');
const execute = () => { note('tool.begin', { name: 'slow_search' }); setTimeout(() => note('throws') ?? giveUp(new Error('the search took too long')), 300); return new Promise(() => {}); };
let giveUp; const given = new Promise((_, no) => { giveUp = no; });
const searcher = new Agent({ name: 'Searcher', model: 'gpt-t', instructions: 'Search.', tools: [make({ name: 'slow_search', description: 's', strict: true, parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false }, execute })] });
await Promise.race([new Runner().run(searcher, 'Find it'), given]);`,
    kind: 'uncaught-exception',
    cause: [/the search took too long/, /tool slow_search \(call_1\), running for/],
    never: [/The only work that was open/],
  },
  {
    name: 'a value that is nested too deeply for JSON',
    quick: true,
    program: `const nested = (depth) => { let node = {}; for (let n = 0; n < depth; n++) node = { node }; return node; };
const emit = (tree) => JSON.stringify(tree); note('throws'); emit(nested(200_000));`,
    kind: 'uncaught-exception',
    cause: [/Maximum call stack size exceeded at victim\.mjs/, /nested too deeply/],
    never: [/function that repeats/],
  },
  {
    name: 'a command of execFile that its time limit ends',
    program: `const { execFile } = await import('node:child_process'); const { promisify } = await import('node:util');
note('throws'); await promisify(execFile)('sleep', ['20'], { timeout: 300 });`,
    kind: 'uncaught-exception',
    cause: [
      /Command failed: sleep 20/,
      /The program itself ended the command with SIGTERM, such as by its time limit/,
    ],
  },
  {
    name: 'a command that somebody else ends',
    program: `const { execFile } = await import('node:child_process'); const { promisify } = await import('node:util');
note('throws'); await promisify(execFile)('sh', ['-c', 'kill -TERM $$']);`,
    kind: 'uncaught-exception',
    cause: [/Command failed: sh/],
    never: [/program itself ended/],
  },
  {
    name: 'a clean-up that fails after an error that was printed',
    quick: true,
    program: `const rollback = () => { note('throws'); throw new Error('connection already closed'); };
try { await delay(10); throw new Error('deadlock detected'); } catch (error) { console.error(error); throw error; } finally { rollback(); }`,
    kind: 'uncaught-exception',
    cause: [
      /connection already closed at victim\.mjs/,
      /Before the end • The program printed an error: Error: deadlock detected/,
    ],
  },
  {
    name: 'an error that is printed and thrown on',
    program: `try { await delay(10); throws('deadlock detected'); } catch (error) { console.error(error); throw error; }`,
    kind: 'uncaught-exception',
    cause: [/deadlock detected at victim\.mjs/],
    never: [/printed an error/],
  },
  {
    name: 'a time limit whose error a library gave a field',
    program: `writeFileSync('child.mjs', \`const limit = (ms) => AbortSignal.timeout(ms);
const until = (signal, work) => Promise.race([work, new Promise((_, no) => signal.addEventListener('abort', () => no(Object.assign(signal.reason, { taskId: 7 }))))]);
console.log(await until(limit(50), new Promise((done) => setTimeout(done, 5000))));\`);
note('throws'); [process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit'); note('end', { code: process.exitCode });`,
    kind: 'uncaught-exception',
    cause: [/aborted due to timeout, likely at child\.mjs:1:23/],
  },
];
