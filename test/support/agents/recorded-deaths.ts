/**
 * Agents of test/agents that die of what the mock server answers, recorded with the preload. A replay must be able to
 * reproduce each death without the server.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlesIn, findNodes, preload } from '../victims/run-victim.ts';
import { type MockModelServer, type ScriptedReply, startMockModelServer } from './mock-model-server.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
export const agents = join(root, 'test', 'agents');
export const cli = join(root, 'bin', 'agentdump.js');
export const node =
  findNodes().find(({ name }) => name === 'Node 24') ?? findNodes()[0] ?? assert.fail('no Node');

export interface RecordedDeath {
  name: string;
  /** Program of test/agents and its arguments. */
  words: string[];
  /** The n-th reply, counted from 0. */
  reply: (turn: number) => ScriptedReply;
  meddle?: (kill: (signal: NodeJS.Signals) => void, server: MockModelServer) => void;
}

const ask = { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] };
/** Calls the weather tool, and replies `then` to its result. */
const after =
  (then: ScriptedReply) =>
  (turn: number): ScriptedReply =>
    turn === 0 ? ask : then;
const overloaded = { status: 400 };
const cut: ScriptedReply = { text: 'Snow. '.repeat(40), frames: 20, fault: 'cut' };

export const recordedDeaths: RecordedDeath[] = [
  { name: 'LangGraph, refused at once', words: ['langgraph', 'whole'], reply: () => overloaded },
  { name: 'LangGraph, refused after the tool', words: ['langgraph', 'stream'], reply: after(overloaded) },
  { name: 'OpenAI chat, refused', words: ['openai-chat', 'whole'], reply: after(overloaded) },
  { name: 'OpenAI chat, stream cut', words: ['openai-chat', 'stream'], reply: () => cut },
  { name: 'OpenAI Responses, refused', words: ['openai-responses', 'whole'], reply: after(overloaded) },
  { name: 'OpenAI Responses, stream cut', words: ['openai-responses', 'stream'], reply: after(cut) },
  { name: 'Anthropic, refused', words: ['anthropic', 'whole'], reply: after(overloaded) },
  { name: 'Anthropic, stream cut', words: ['anthropic', 'stream'], reply: after(cut) },
  {
    name: 'Anthropic runner, a thread on the server',
    words: ['anthropic-runner', 'whole'],
    reply: after(overloaded),
  },
  { name: 'AI SDK, refused', words: ['ai-sdk', 'whole'], reply: after(overloaded) },
  { name: 'OpenAI Agents, refused', words: ['openai-agents', 'whole'], reply: after(overloaded) },
  { name: 'axios, refused', words: ['http/axios', 'whole'], reply: after(overloaded) },
  { name: 'undici, refused', words: ['http/undici', 'whole'], reply: after(overloaded) },
  {
    name: 'OpenAI Agents, SIGTERM in the middle of the answer',
    words: ['openai-agents', 'stream'],
    reply: () => ({ text: 'It is snowing. '.repeat(40), frames: 40, frameDelayMs: 50 }),
    meddle: (kill, server) => {
      let frames = 0;
      server.events.on('frame', () => ++frames === 8 && kill('SIGTERM'));
    },
  },
];

/** Runs it in `dir` until it dies; returns the path of its bundle, and the URL of the server, which is closed by then. */
export async function recordDeath(
  { words, reply, meddle }: RecordedDeath,
  dir: string,
): Promise<{ bundle: string; url: string }> {
  let turn = 0;
  const server = await startMockModelServer(() => reply(turn++));
  try {
    const [program, ...args] = words;
    const child = spawn(node.path, ['--require', preload, join(agents, `${program}.mjs`), ...args], {
      cwd: dir,
      stdio: 'ignore',
      env: cleanEnvironment(dir, { MODEL_URL: server.url }),
    });
    meddle?.((signal) => child.kill(signal), server);
    await once(child, 'exit');
  } finally {
    await server.close();
  }
  const [name = assert.fail(`${words.join(' ')} left no bundle`)] = bundlesIn(dir);
  return { bundle: join(dir, 'dumps', name), url: server.url };
}

export function cleanEnvironment(dir: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), ...more };
}

export interface CommandEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command line. */
export async function runCli(
  words: string[],
  dir: string,
  env: Record<string, string> = {},
  cwd = dir,
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [cli, ...words], { cwd, env: cleanEnvironment(dir, env) });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** The arguments after `--` that start the program again. */
export const commandOf = ({ words: [program, ...args] }: RecordedDeath): string[] => [
  node.path,
  join(agents, `${program}.mjs`),
  ...args,
];
