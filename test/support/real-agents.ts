/** Runs the small agents of test/agents, built on the real libraries, against the mock server. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode, type NodeMajor, type ProgramRun, runProgram } from './agent-preload.ts';
import { type SeenCall, startMockModelServer } from './mock-model-server.ts';

const folder = join(fileURLToPath(import.meta.url), '..', '..', 'agents');

export const answer = 'It is snowing in Oslo. ❄ Bring a coat!';

/** Why the real agents can't run here; false when they can. */
export function whyNoAgents(major: NodeMajor): string | false {
  if (!findNode(major)) return `Node ${major} is not installed (npm ci --prefix test/nodes)`;
  if (existsSync(join(folder, 'node_modules'))) return false;
  return 'the libraries are not installed (npm ci --legacy-peer-deps --prefix test/agents)';
}

/**
 * How the n-th agent is run on a Node: whole or streamed, so that each agent is run in both ways on two Nodes of the
 * four. With AGENTDUMP_TEST_MATRIX=full, both ways on every Node.
 */
export function modesOn(major: NodeMajor, n: number): string[] {
  if (process.env['AGENTDUMP_TEST_MATRIX'] === 'full') return ['whole', 'stream'];
  return (major / 2 + n) % 2 ? ['whole'] : ['stream'];
}

export interface AgentRun {
  ran: ProgramRun;
  calls: SeenCall[];
}

/** Runs one agent to its answer: the model asks for the weather, then speaks. */
export async function runAgent(
  program: string,
  args: string[],
  major: NodeMajor,
  preload: string | undefined,
  env: Record<string, string> = {},
): Promise<AgentRun> {
  const server = await startMockModelServer((call) =>
    call.conversation.at(-1)?.toolResults
      ? { text: answer, frames: 8 }
      : { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  );
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

/** Runs a program of test/agents with and without the preload: the host must not be able to tell. */
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
