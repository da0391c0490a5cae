/**
 * Real agents killed by SIGKILL at random instants: what the model had seen and said until shortly before is in what was
 * written, and nothing else is.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { oracleSaid, recordedCalls } from '../support/agent-oracle.ts';
import { buildPreload, findNode, type ProgramRun, runProgram } from '../support/agent-preload.ts';
import { type SeenCall, startMockModelServer } from '../support/mock-model-server.ts';
import { whyNoAgents } from '../support/real-agents.ts';

/** What came to the process so shortly before its death may not have been read by it. */
const blinkMs = 150;
const kills = Number(process.env['AGENTDUMP_TEST_KILLS'] ?? 4);
const agents = join(fileURLToPath(import.meta.url), '..', '..', 'agents');

let preload: string;
before(async () => {
  preload = await buildPreload();
});

interface Watched {
  call: SeenCall;
  startedAt: number;
  endedAt: number | undefined;
  /** The reply's text as far as it was sent a blink before the kill. */
  seenText: string;
}

async function killAt(
  ms: number,
  program: string,
): Promise<{ ran: ProgramRun; watched: Watched[]; killedAt: number }> {
  const server = await startMockModelServer((_call, n) =>
    n < 6
      ? {
          text: `Let me look, ${n}. `.repeat(6),
          toolCalls: [{ name: 'get_weather', arguments: { city: `C${n}` } }],
          frames: 10,
          frameDelayMs: 12,
        }
      : { text: 'Done. '.repeat(200), frames: 100, frameDelayMs: 20 },
  );
  const watched = new Map<SeenCall, Watched>();
  let killedAt = Number.POSITIVE_INFINITY;
  server.events.on('request', (call) => {
    watched.set(call, { call, startedAt: performance.now(), endedAt: undefined, seenText: '' });
  });
  server.events.on('frame', (call) => {
    const text = call.sentText;
    const at = performance.now();
    setTimeout(() => {
      const one = watched.get(call);
      if (one && at < killedAt - blinkMs) one.seenText = text;
    }, blinkMs);
  });
  server.events.on('end', (call) => {
    const one = watched.get(call);
    if (one) one.endedAt = performance.now();
  });
  const ran = await runProgram(join(agents, `${program}.mjs`), {
    node: findNode(24) ?? assert.fail(),
    preload,
    args: ['stream'],
    env: { MODEL_URL: server.url },
    onStart: (kill) => {
      server.events.once('request', () =>
        setTimeout(() => {
          killedAt = performance.now();
          kill('SIGKILL');
        }, ms),
      );
    },
  });
  await server.close();
  return { ran, watched: [...watched.values()], killedAt };
}

for (const program of ['openai-chat', 'anthropic-runner'])
  test(`${program} killed at ${kills} random instants`, { skip: whyNoAgents(24) }, async () => {
    for (let i = 0; i < kills; i++) {
      const ms = Math.round(Math.random() * 2500);
      const { ran, watched, killedAt } = await killAt(ms, program);
      assert.equal(ran.signal, 'SIGKILL');
      const recorded = recordedCalls(ran);
      assert.ok(recorded.length <= watched.length);
      for (const [n, { call, startedAt, endedAt, seenText }] of watched.entries()) {
        const what = `killed after ${ms} ms, call ${n}`;
        const found = recorded[n];
        if (startedAt < killedAt - blinkMs) assert.ok(found, `${what} is recorded`);
        if (!found) continue;
        const said = oracleSaid(call);
        if (endedAt !== undefined && endedAt < killedAt - blinkMs) {
          assert.equal(found.call.status, 'finished', what);
          assert.deepEqual(found.said, said, what);
        } else if (found.call.status !== 'finished') {
          assert.deepEqual(found.said, oracleSaid({ ...call, reply: undefined } as never), what);
          const partial = found.call.partialText ?? '';
          assert.ok(call.sentText.startsWith(partial), `${what}: "${partial}" was sent`);
          assert.ok(
            partial.length >= seenText.length - 20,
            `${what}: "${partial}" has what was sent, "${seenText}"`,
          );
        }
      }
    }
  });
