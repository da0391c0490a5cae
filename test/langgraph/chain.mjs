// A graph of seven nodes on the saver in argv[2]. Each notes in argv[3] that it ran; the fourth says so and waits for
// its killer the first time. With `write`, no graph: writes to one thread as fast as it can until it is killed.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { AgentdumpSaver } from '../../dist/langgraph/index.js';

const [, , dir, log, mode] = process.argv;
const saver = new AgentdumpSaver({ dir });
const thread = { configurable: { thread_id: 'seven', checkpoint_ns: '' } };
if (mode === 'write') await writeForEver();
else await runGraph();

async function writeForEver() {
  for (let step = 1, config = thread; ; step++) {
    const versions = { step };
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(step),
      channel_values: { step },
      channel_versions: versions,
    };
    config = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} }, versions);
    process.stdout.write(`${step}\n`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function runGraph() {
  const names = Array.from({ length: 7 }, (_, index) => `node${index + 1}`);
  const graph = new StateGraph(
    Annotation.Root({ done: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) }),
  );
  for (const name of names)
    graph.addNode(name, async () => {
      const isFirst = !existsSync(log) || !readFileSync(log, 'utf8').includes(`${name}\n`);
      appendFileSync(log, `${name}\n`);
      if (name === 'node4' && isFirst) {
        process.stdout.write('waiting\n');
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      }
      return { done: [{ name }] };
    });
  graph.addEdge(START, names[0]);
  names.forEach((name, index) => {
    graph.addEdge(name, names[index + 1] ?? END);
  });
  const app = graph.compile({ checkpointer: saver });
  const isStarted = (await saver.getTuple(thread)) !== undefined;
  const state = await app.invoke(isStarted ? null : { done: [] }, { ...thread, durability: 'sync' });
  process.stdout.write(`${JSON.stringify(state.done.map(({ name }) => name))}\n`);
}
