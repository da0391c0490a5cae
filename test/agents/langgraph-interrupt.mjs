// A graph that asks a human and goes on, with context variables of its own: prints what it did.
import { getContextVariable, setContextVariable } from '@langchain/core/context';
import { RunnableLambda } from '@langchain/core/runnables';
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const graph = new StateGraph(State)
  .addNode('first', async () => {
    setContextVariable('mood', 'good');
    const mood = await RunnableLambda.from(() => getContextVariable('mood')).invoke({});
    return { log: [`mood ${mood}`] };
  })
  .addNode('ask', async () => ({ log: [`answer ${interrupt('May I?')}`] }))
  .addNode('broken', async ({ log }) => {
    if (log.includes('answer no')) throw new Error('not allowed');
    return { log: ['done'] };
  })
  .addEdge(START, 'first')
  .addEdge('first', 'ask')
  .addEdge('ask', 'broken')
  .addEdge('broken', END)
  .compile({ checkpointer: new MemorySaver() });
for (const answer of ['yes', 'no']) {
  const config = { configurable: { thread_id: answer } };
  const paused = await graph.invoke({}, config);
  console.log('PAUSED', JSON.stringify(paused.log), paused.__interrupt__?.[0]?.value);
  await graph.invoke(new Command({ resume: answer }), config).then(
    ({ log }) => console.log('DONE', JSON.stringify(log)),
    (error) => console.log('FAILED', error.message),
  );
}
