/** DBOS and LangGraph, each performing steps that return a small result: microseconds of each step. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const home = fileURLToPath(new URL('../../durable-peers/', import.meta.url));

export function hasPeer(name: string): boolean {
  return existsSync(`${home}node_modules/${name}/package.json`);
}

// biome-ignore lint/suspicious/noExplicitAny: packages of a benchmark, which may be absent
export async function load(name: string): Promise<any> {
  return import(pathToFileURL(createRequire(`${home}package.json`).resolve(name)).href);
}

export const langGraphAvailable = () =>
  hasPeer('@langchain/langgraph') && hasPeer('@langchain/langgraph-checkpoint-sqlite');
export const dbosAvailable = () => hasPeer('@dbos-inc/dbos-sdk');

/** A graph of one node that leads to itself; a step is the time between two starts of the node. */
export async function timeLangGraph(path: string, steps: number): Promise<number[]> {
  const { Annotation, END, START, StateGraph } = await load('@langchain/langgraph');
  const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite');
  const State = Annotation.Root({ index: Annotation(), text: Annotation() });
  const begun: bigint[] = [];
  const graph = new StateGraph(State)
    .addNode('work', ({ index }: { index: number }) => {
      begun.push(process.hrtime.bigint());
      return { index: index + 1, text: 'a result' };
    })
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ index }: { index: number }) => (index < steps ? 'work' : END))
    .compile({ checkpointer: SqliteSaver.fromConnString(path) });
  const config = { configurable: { thread_id: 't' }, recursionLimit: steps + 10, durability: 'sync' };
  await graph.invoke({ index: 0 }, config);
  return begun.slice(1).map((at, index) => Number(at - begun[index]!) / 1000);
}

export async function timeDbos(url: string, steps: number): Promise<number[]> {
  const { DBOS } = await load('@dbos-inc/dbos-sdk');
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false });
  const times: number[] = [];
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let index = 0; index < steps; index++) {
        const start = process.hrtime.bigint();
        await DBOS.runStep(async () => ({ index, text: 'a result' }), { name: 'work' });
        times.push(Number(process.hrtime.bigint() - start) / 1000);
      }
    },
    { name: 'bench' },
  );
  await DBOS.launch();
  await workflow();
  await DBOS.shutdown();
  return times.slice(20);
}
