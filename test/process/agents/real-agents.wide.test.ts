/**
 * Agents built on third-party libraries, against the mock model server, made to die in three ways: an error of the provider
 * that nobody catches, a reply that the program cannot parse, and a deploy's SIGTERM in the middle of a streamed answer. The
 * account of each says what happened and what the agent was doing.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import {
  type MockModelServer,
  type ScriptedReply,
  startMockModelServer,
} from '../../support/agents/mock-model-server.ts';
import { whyNoAgents } from '../../support/agents/real-agents.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const agents = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'agents');
const node = findNodes().find(({ name }) => name === 'Node 24') ?? findNodes()[0] ?? assert.fail('no Node');
const skip = whyNoAgents();

interface Death {
  /** Exit code or signal. */
  end: number | string;
  account: Account;
}

type Meddle = (kill: (signal: NodeJS.Signals) => void, server: MockModelServer) => void;

/** Runs an agent until it dies, without and with the preload. The test fails unless both ends are the same. */
async function dieAs(
  t: TestContext,
  args: string[],
  reply: (turn: number) => ScriptedReply,
  meddle?: Meddle,
): Promise<Death> {
  const dir = temporaryFolder(t);
  const bare = await runAgent(args, reply, meddle, dir, []);
  const end = await runAgent(args, reply, meddle, dir, ['--require', preload]);
  assert.equal(end, bare);
  const [name = assert.fail('no bundle')] = bundlesIn(dir);
  const bundle = openBundle(join(dir, 'dumps', name));
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  bundle.close();
  return { end, account };
}

async function runAgent(
  [program, ...args]: string[],
  reply: (turn: number) => ScriptedReply,
  meddle: Meddle | undefined,
  dir: string,
  flags: string[],
): Promise<number | string> {
  let turn = 0;
  const server = await startMockModelServer(() => reply(turn++));
  try {
    const child = spawn(node.path, [...flags, join(agents, `${program}.mjs`), ...args], {
      cwd: dir,
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: dir,
        MODEL_URL: server.url,
        AGENTDUMP_DIR: join(dir, 'dumps'),
      },
    });
    meddle?.((signal) => child.kill(signal), server);
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? signal ?? 'no end';
  } finally {
    await server.close();
  }
}

const modelCalls = ({ agent }: Account) => agent?.runs.flatMap((run) => run.modelCalls) ?? [];
const messages = ({ agent }: Account) => JSON.stringify(agent?.runs.flatMap((run) => run.messages) ?? []);

test('LangGraph: the provider is overloaded, and nobody catches it', { skip }, async (t) => {
  const { end, account } = await dieAs(t, ['langgraph', 'whole'], () => ({ status: 400 }));
  assert.equal(end, 1);
  assert.match(account.verdict?.kind ?? '', /^(uncaught-exception|unhandled-rejection)$/);
  assert.match(account.error?.message ?? '', /400/);
  assert.ok(account.error?.frames?.some((frame) => frame.file?.includes('node_modules') && !frame.inApp));
  assert.equal(modelCalls(account).length, 1);
  assert.match(messages(account), /Oslo/);
});

test('the OpenAI client: the connection is cut in the middle of a streamed answer', { skip }, async (t) => {
  const { end, account } = await dieAs(t, ['openai-chat', 'stream'], () => ({
    text: 'Snow. '.repeat(40),
    frames: 20,
    fault: 'cut',
  }));
  assert.equal(end, 1);
  assert.match(account.verdict?.kind ?? '', /^(uncaught-exception|unhandled-rejection)$/);
  assert.match(messages(account), /How is Oslo\?/);
  assert.match(JSON.stringify(modelCalls(account)), /Snow\. Snow\./);
});

test('OpenAI Agents: SIGTERM while the model is answering', { skip }, async (t) => {
  const { account } = await dieAs(
    t,
    ['openai-agents', 'stream'],
    () => ({ text: 'It is snowing. '.repeat(40), frames: 40, frameDelayMs: 50 }),
    (kill, server) => {
      let frames = 0;
      server.events.on('frame', () => ++frames === 8 && kill('SIGTERM'));
    },
  );
  assert.equal(account.verdict?.kind, 'terminated');
  const [call] = modelCalls(account);
  assert.notEqual(call?.status, 'finished');
  assert.match(JSON.stringify(call), /It is snowing/);
});
