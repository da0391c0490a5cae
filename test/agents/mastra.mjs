// A weather agent on Mastra: node mastra.mjs whole|stream. Its providers are its own copies, so only the tap sees them.
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { weather, weatherTool } from './weather.mjs';

const openai = createOpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${process.env.MODEL_URL}/v1` });
const agent = new Agent({
  id: 'weather',
  name: 'weather',
  instructions: 'You are a weather agent.',
  model: openai.chat('gpt-4o-mini'),
  tools: {
    get_weather: createTool({
      id: weatherTool.name,
      description: weatherTool.description,
      inputSchema: z.object({ city: z.string() }),
      execute: async (input) => weather(input.context ?? input),
    }),
  },
});
if (process.argv[2] === 'whole') console.log('ANSWER', (await agent.generate('How is Oslo?')).text);
else {
  let text = '';
  for await (const piece of (await agent.stream('How is Oslo?')).textStream) text += piece;
  console.log('ANSWER', text);
}
process.exit();
