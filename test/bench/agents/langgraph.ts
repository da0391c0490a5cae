/**
 * A chat that grows by 2 KB per step, 300 steps, on our LangGraph checkpointer and on SqliteSaver: bytes on disk, time of a
 * whole step in a real graph, and time of a step's two calls alone (in a graph, other work happens in between).
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { AgentdumpSaver } from '../../../src/langgraph/index.ts';
import { SeededRandom } from '../../support/synth/seeded-random.ts';

const steps = 300;
const require = createRequire(join(import.meta.dirname, '..', '..', 'langgraph', 'package.json'));
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href);
const { StateGraph, Annotation, START, END, messagesStateReducer } = await load('@langchain/langgraph');
const { AIMessage, HumanMessage } = await load('@langchain/core/messages');
const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite');

/** Two kilobytes that don't compress. */
const random = new SeededRandom(1);
const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .';
const message = (step: number) => {
  const Role = step % 2 === 0 ? HumanMessage : AIMessage;
  return new Role({ content: random.text(2000, alphabet), id: `message-${step}` });
};

/** Milliseconds from one turn of the graph to the next. */
async function runGraph(saver: BaseCheckpointSaver): Promise<number[]> {
  const stepMs: number[] = [];
  let last = performance.now();
  const state = Annotation.Root({
    messages: Annotation({ reducer: messagesStateReducer, default: () => [] }),
  });
  const graph = new StateGraph(state)
    .addNode('turn', ({ messages }: { messages: unknown[] }) => {
      const now = performance.now();
      if (messages.length > 1) stepMs.push(now - last);
      last = now;
      return { messages: [message(messages.length)] };
    })
    .addEdge(START, 'turn')
    .addConditionalEdges('turn', (now: { messages: unknown[] }) =>
      now.messages.length >= steps ? END : 'turn',
    )
    .compile({ checkpointer: saver });
  const config = { configurable: { thread_id: 'graph' }, recursionLimit: steps + 10, durability: 'sync' };
  await graph.invoke({ messages: [message(0)] }, config);
  return stepMs;
}

/** Milliseconds of a step's calls to its checkpointer: the writes of a node, then the checkpoint. */
async function runCalls(saver: BaseCheckpointSaver): Promise<number[]> {
  const stepMs: number[] = [];
  const messages: unknown[] = [];
  let config = { configurable: { thread_id: 'calls', checkpoint_ns: '' } } as Parameters<typeof saver.put>[0];
  for (let step = 0; step <= steps; step++) {
    messages.push(message(step));
    const versions = { messages: step + 1, 'branch:to:turn': step + 1 };
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(step),
      channel_values: { messages: [...messages], 'branch:to:turn': null },
      channel_versions: versions,
      versions_seen: { turn: { 'branch:to:turn': step } },
    };
    const start = performance.now();
    if (step > 0)
      await saver.putWrites(
        config,
        [
          ['messages', [messages.at(-1)]],
          ['branch:to:turn', null],
        ],
        uuid6(step),
      );
    config = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} }, versions);
    stepMs.push(performance.now() - start);
  }
  return stepMs.slice(1);
}

function bytesIn(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const quantile = (values: number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] ?? Number.NaN;

async function inFolder<T>(run: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  try {
    return await run(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const makers: Record<string, (dir: string) => BaseCheckpointSaver> = {
  agentdump: (dir) => new AgentdumpSaver({ dir }),
  SqliteSaver: (dir) => SqliteSaver.fromConnString(join(dir, 'checkpoints.db')),
};

/** After this many rounds V8 has compiled both savers, as in a program that has run for a second. */
const warmRounds = 4;
const timedRounds = 5;

/** The savers take turns, so that other load on the machine affects both. */
async function measureAll() {
  const all = Object.entries(makers).map(([name, make]) => ({
    name,
    make,
    bytes: 0,
    graphMs: [] as number[],
    callsMs: [] as number[],
    roundP50: [] as number[],
  }));
  for (let round = 0; round < warmRounds + timedRounds; round++)
    for (const saver of all) {
      const graph = await inFolder(async (dir) => {
        const ms = await runGraph(saver.make(dir));
        return { ms, bytes: bytesIn(dir) };
      });
      const callsMs = await inFolder((dir) => runCalls(saver.make(dir)));
      if (round < warmRounds) continue;
      saver.bytes = graph.bytes;
      saver.graphMs.push(...graph.ms);
      saver.callsMs.push(...callsMs);
      saver.roundP50.push(quantile(callsMs, 0.5));
    }
  return all;
}

const [ours, sqlite] = await measureAll();
for (const saver of [ours, sqlite]) {
  if (!saver) continue;
  const [p50, p99] = [quantile(saver.callsMs, 0.5), quantile(saver.callsMs, 0.99)];
  const graphMs = quantile(saver.graphMs, 0.5);
  console.log(
    `${saver.name.padEnd(12)} ${(saver.bytes / 1e6).toFixed(2).padStart(7)} MB   its calls p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms a step   whole step p50 ${graphMs.toFixed(3)} ms`,
  );
}
if (ours && sqlite) {
  const ratios = sqlite.roundP50.map((ms, round) => ms / (ours.roundP50[round] ?? Number.NaN));
  const ratio = quantile(sqlite.callsMs, 0.5) / quantile(ours.callsMs, 0.5);
  console.log(
    `SqliteSaver / agentdump: ${(sqlite.bytes / ours.bytes).toFixed(0)}x the bytes, ${ratio.toFixed(1)}x the time of its calls (round by round ${ratios.map((one) => one.toFixed(1)).join(', ')}; aim 30)`,
  );
}
