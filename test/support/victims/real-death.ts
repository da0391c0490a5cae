/**
 * Runs an agent of test/agents/deaths.mjs that dies, without and with the preload, and reads the top of the report. Each
 * death runs on Node 24 and on one of the other Nodes in turn, with AGENTDUMP_TEST_MATRIX=full on all of them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderText } from '../../../src/report/text.ts';
import { findNode, type NodeMajor, nodeMajors } from '../agents/agent-preload.ts';
import { type ScriptedReply, startMockModelServer } from '../agents/mock-model-server.ts';
import { usualNode } from '../run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from './run-victim.ts';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'agents', 'deaths.mjs');
const others = nodeMajors.filter((major) => major !== usualNode.major);
const hello = (): ScriptedReply => ({ text: 'Hello.' });

export interface RealDeath {
  account: Account;
  /** The first five lines of the report. */
  firstLines: string;
  /** Everything above the full error: title, code, summary, evidence, what to do; as one line. */
  firstScreen: string;
}

/** The Nodes for the n-th death. */
export function majorsOf(n: number): readonly NodeMajor[] {
  if (others.length === 0 || process.env['AGENTDUMP_TEST_MATRIX'] === 'full') return nodeMajors;
  return [usualNode.major, others[n % others.length] ?? usualNode.major];
}

export interface Death {
  /** A name of deaths.mjs. */
  name: string;
  /** The model's answer to the n-th request. */
  reply: ((n: number) => ScriptedReply) | undefined;
  check: (death: RealDeath) => void;
}

/** Runs the death without and with the preload, asserts that both end the same, and checks the report. */
export async function dieOf(t: TestContext, { name, reply = hello, check }: Death, major: NodeMajor) {
  const dir = temporaryFolder(t);
  const node = findNode(major) ?? assert.fail();
  const [bare, watched] = await Promise.all([
    run(node, name, reply, dir, []),
    run(node, name, reply, dir, ['--require', preload]),
  ]);
  assert.deepEqual(watched, bare, 'the same end');
  assert.notEqual(bare.code, 0, `${name} did not die`);
  const bundle = openBundle(join(dir, 'dumps', bundlesIn(dir).at(-1) ?? assert.fail('no bundle')));
  const account = await analyzeBundle(bundle);
  bundle.close();
  const [head = ''] = renderText(account).split(/\n\n(?:Error|Stack|Agent|Process)\n/, 1);
  const firstLines = head.split('\n').slice(0, 5).join('\n');
  t.diagnostic(`\n${firstLines}`);
  check({ account, firstLines, firstScreen: head.replace(/\s+/g, ' ') });
}

async function run(
  node: string,
  name: string,
  reply: (n: number) => ScriptedReply,
  dir: string,
  flags: string[],
) {
  const server = await startMockModelServer((_, n) => reply(n));
  try {
    const child = spawn(node, [...flags, program, name], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: dir,
        MODEL_URL: server.url,
        AGENTDUMP_DIR: join(dir, 'dumps'),
      },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { code, signal, stdout, stderr: comparable(stderr) };
  } finally {
    await server.close();
  }
}

/**
 * Our own lines; frames of Node, because events may arrive in another order; a message that an exporter prints on a timer.
 */
const leftOut = /^agentdump:|^ {4}at .*\bnode:|^No API key provided for OpenAI tracing exporter/;

/** Removes what may differ from run to run. */
function comparable(stderr: string): string {
  return (
    stderr
      .split('\n')
      .filter((line) => !leftOut.test(line))
      .join('\n')
      .replace(/127\.0\.0\.1:\d+|port: \d+|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b|date: '[^']*'/g, '#')
      // The AI SDK runs through another line of its code while its channel has a subscriber.
      .replace(/(runWithTracingChannelSpan \(.*):\d+:\d+\)/, '$1')
  );
}
