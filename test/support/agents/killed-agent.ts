/**
 * Runs a real agent and kills it at a random instant after the n-th event of its conversation: the arrival of a request or
 * the sending of a frame. The server stops sending at that event, so that it is known what could have been recorded.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { settledMs, timesAsleep } from '../victims/main-thread-rest.ts';
import { recordedCalls, saidBy } from './agent-oracle.ts';
import { findNode, type NodeMajor, type ProgramRun, runProgram } from './agent-preload.ts';
import { type SeenCall, startMockModelServer } from './mock-model-server.ts';
import { folder, twoTurns } from './real-agents.ts';

const longestWaitMs = 400;
const forever = new Promise<void>(() => undefined);

export interface KilledRun {
  ran: ProgramRun;
  calls: SeenCall[];
  /** Time from the event to the kill; undefined if the agent finished before. */
  afterMs: number | undefined;
  /** The agent had time to read everything that the server had sent, even on a busy machine. */
  isSettled: boolean;
}

export async function killAfterEvent(
  [program, ...args]: readonly string[],
  mode: string,
  major: NodeMajor,
  preload: string,
  event: number,
): Promise<KilledRun> {
  let events = 0;
  let kill: (signal: NodeJS.Signals) => void = () => undefined;
  let pid = 0;
  let afterMs: number | undefined;
  let isSettled = false;
  const server = await startMockModelServer(twoTurns, async () => {
    if (++events < event) return;
    // A client may have disconnected and retried.
    if (events > event) await forever;
    const wait = Math.round(Math.random() * longestWaitMs);
    const at = performance.now();
    await delay(Math.max(0, wait - settledMs));
    const before = timesAsleep(pid);
    await delay(Math.min(wait, settledMs));
    isSettled = wait >= settledMs && before !== undefined && before === timesAsleep(pid);
    afterMs = performance.now() - at;
    kill('SIGKILL');
    await forever;
  });
  const ran = await runProgram(join(folder, `${program}.mjs`), {
    node: findNode(major) ?? assert.fail(),
    preload,
    args: [mode, ...args],
    env: { MODEL_URL: server.url },
    onStart: (killer, itsPid) => {
      kill = killer;
      pid = itsPid;
    },
  });
  const calls = [...server.calls];
  await server.close();
  // The event may be the last one that the agent needs, so that it finishes before the kill.
  return { ran, calls, afterMs: ran.code === 0 ? undefined : afterMs, isSettled };
}

/** Every recorded call equals the oracle's; if the agent had time to read everything, nothing is missing. */
export function assertAsFarAsItWent({ ran, calls, isSettled }: KilledRun, what: string): void {
  assert.equal(ran.signal, 'SIGKILL', `${what}: ${ran.stderr}`);
  const recorded = recordedCalls(ran);
  assert.ok(recorded.length <= calls.length, `${what}: no call that nobody made`);
  if (isSettled) assert.equal(recorded.length, calls.length, `${what}: every call`);
  for (const [n, { said, call }] of recorded.entries()) {
    const seen = calls[n] ?? assert.fail();
    const { input, output } = saidBy(seen);
    if (call.status === 'finished') {
      assert.deepEqual(said, [...input, ...output], `${what}: call ${n} and its reply`);
      assert.deepEqual(
        [call.inputTokens, call.outputTokens],
        [seen.reply?.usage.input, seen.reply?.usage.output],
        `${what}: tokens of call ${n}`,
      );
    } else {
      assert.equal(n, calls.length - 1, `${what}: only the last call can be open`);
      assert.deepEqual(said, input, `${what}: what the model saw of call ${n}`);
      assertPartial(call.partialText ?? '', seen.sentText, isSettled, `${what}: text of call ${n}`);
    }
  }
}

/** The last word is held back, because it may be the start of a secret. */
function assertPartial(recorded: string, sent: string, isSettled: boolean, what: string): void {
  if (isSettled) assert.equal(recorded, sent.replace(/[\w\-./+=:%~@]+$/, ''), what);
  else assert.ok(sent.startsWith(recorded), `${what}: "${recorded}" of "${sent}"`);
}
