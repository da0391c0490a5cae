// A weather agent as a LangGraph graph with ChatOpenAI: node langgraph.mjs whole|stream.
import { ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { weather, weatherTool } from './weather.mjs';

const [, , mode] = process.argv;
const lookUp = tool(async (input) => weather(input), {
  name: weatherTool.name,
  description: weatherTool.description,
  schema: z.object({ city: z.string() }),
});
const model = new ChatOpenAI({
  model: 'gpt-4o-mini',
  apiKey: 'sk-aaaaaaaaaaaa',
  configuration: { baseURL: `${process.env.MODEL_URL}/v1` },
}).bindTools([lookUp]);

async function ask(messages) {
  if (mode === 'whole') return model.invoke(messages);
  let whole;
  for await (const chunk of await model.stream(messages)) whole = whole ? whole.concat(chunk) : chunk;
  return whole;
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => ({
    messages: [await ask([{ role: 'system', content: 'You are a weather agent.' }, ...messages])],
  }))
  .addNode('tools', async ({ messages }) => ({
    messages: await Promise.all(
      messages.at(-1).tool_calls.map(async (call) => {
        const content = await lookUp.invoke(call.args);
        return new ToolMessage({ content, tool_call_id: call.id });
      }),
    ),
  }))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', ({ messages }) => (messages.at(-1).tool_calls?.length ? 'tools' : END))
  .addEdge('tools', 'agent')
  .compile();
const whose = { configurable: { thread_id: 'weather-42' }, metadata: { user_id: 'u7' } };
const question = [{ role: 'user', content: 'How is Oslo?' }];
const { messages } = await graph.invoke({ messages: question }, whose);
console.log('ANSWER', messages.at(-1).content);
