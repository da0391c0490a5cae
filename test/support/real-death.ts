/** Lets an agent of test/agents/deaths.mjs die, without and with the preload, and reads what is said of it first. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { renderText } from '../../src/report/text.ts';
import { type ScriptedReply, startMockModelServer } from './mock-model-server.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from './run-victim.ts';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', 'agents', 'deaths.mjs');
const node = findNodes().find(({ name }) => name === 'Node 24') ?? findNodes()[0] ?? assert.fail('no Node');

export interface RealDeath {
  account: Account;
  /** The headline with the summary and the first step, as one line. */
  firstScreen: string;
}

/** `reply` gives what the model answers to the n-th request. */
export async function dieOf(
  t: TestContext,
  name: string,
  reply: (n: number) => ScriptedReply = () => ({ text: 'Hello.' }),
): Promise<RealDeath> {
  const dir = temporaryFolder(t);
  const [bare, watched] = await Promise.all([
    run(name, reply, dir, []),
    run(name, reply, dir, ['--require', preload]),
  ]);
  assert.deepEqual(watched, bare, 'the same end');
  assert.notEqual(bare.code, 0, `${name} did not die`);
  const bundle = openBundle(join(dir, 'dumps', bundlesIn(dir).at(-1) ?? assert.fail('no bundle')));
  const account = await analyzeBundle(bundle);
  bundle.close();
  const [firstScreen = ''] = renderText(account).split('\n\n', 1);
  return { account, firstScreen: firstScreen.replace(/\s+/g, ' ') };
}

async function run(name: string, reply: (n: number) => ScriptedReply, dir: string, flags: string[]) {
  const server = await startMockModelServer((_, n) => reply(n));
  try {
    const child = spawn(node.path, [...flags, program, name], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: dir,
        MODEL_URL: server.url,
        AGENTDUMP_DIR: join(dir, 'dumps'),
      },
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { code, signal, stdout };
  } finally {
    await server.close();
  }
}
