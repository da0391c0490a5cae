/** Runs the small agents of test/agents, which use the real libraries, against the mock server. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isWideRun, usualNode } from '../run/test-nodes.ts';
import { findNode, type NodeMajor, type ProgramRun, runProgram } from './agent-preload.ts';
import { type ScriptedReply, type SeenCall, startMockModelServer } from './mock-model-server.ts';

export const folder = join(fileURLToPath(import.meta.url), '..', '..', '..', 'agents');

export const answer = 'It is snowing in Oslo. ❄ Bring a coat!';

type Agent = readonly [program: string, ...args: string[]];

/** Client libraries, each in an agent with its own loop. Majors that declare Node 22 as their minimum run on 20 as well. */
export const clients: readonly Agent[] = [
  ['openai-chat'],
  ['openai-chat', 'openai-6'],
  ['openai-chat', 'openai-4'],
  ['openai-responses'],
  ['openai-responses', 'openai-6'],
  ['anthropic'],
  ['anthropic-runner'],
  ['http/axios'],
  ['http/undici'],
];

export const frameworks: readonly Agent[] = [
  ['ai-sdk', '7'],
  ['ai-sdk', '7', 'chat'],
  ['ai-sdk', '6'],
  ['langgraph'],
  ['openai-agents'],
  ['mastra'],
];

export const modes = ['whole', 'stream'] as const;

/** Mastra does not start on Node 20. */
export const runsOn = (major: NodeMajor, program: string): boolean => major >= 22 || program !== 'mastra';

/** The reason why the real agents can't run here; false if they can. Throws if the libraries are not installed. */
export function whyNoAgents(major: NodeMajor = usualNode.major): string | false {
  if (!isWideRun) return 'real clients and frameworks';
  if (!findNode(major)) return `there is no Node ${major} in this run`;
  if (existsSync(join(folder, 'node_modules'))) return false;
  throw new Error('the libraries are not installed: npm run test:all does it');
}

/** The model calls the weather tool, then answers. */
export const twoTurns = (call: SeenCall): ScriptedReply =>
  call.conversation.at(-1)?.toolResults
    ? { text: answer, frames: 8 }
    : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] };

export interface AgentRun {
  ran: ProgramRun;
  calls: SeenCall[];
}

/** Runs one agent until it has answered. */
export async function runAgent(
  program: string,
  args: string[],
  major: NodeMajor,
  preload: string | undefined,
  env: Record<string, string> = {},
): Promise<AgentRun> {
  const server = await startMockModelServer(twoTurns);
  try {
    const ran = await runProgram(join(folder, `${program}.mjs`), {
      node: findNode(major) ?? assert.fail(),
      preload,
      args,
      env: { MODEL_URL: server.url, ...env },
    });
    assert.equal(ran.stdout.trim(), `ANSWER ${answer}`, `${program} ${args} on Node ${major}: ${ran.stderr}`);
    return { ran, calls: server.calls };
  } finally {
    await server.close();
  }
}

/** Runs a program of test/agents with and without the preload, and asserts that it behaves the same. */
export async function runBoth(
  program: string,
  args: string[],
  major: NodeMajor,
  preload: string,
): Promise<ProgramRun> {
  const node = findNode(major) ?? assert.fail();
  const path = join(folder, `${program}.mjs`);
  const plain = await runProgram(path, { node, preload: undefined, args });
  const ran = await runProgram(path, { node, preload, args, env: { AGENT_PART_FILE: '' } });
  const seen = ({ code, signal, stdout, stderr }: ProgramRun) => ({ code, signal, stdout, stderr });
  assert.deepEqual(seen(ran), seen(plain), `${program} on Node ${major}`);
  return ran;
}
