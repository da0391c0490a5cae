// A weather agent on OpenAI's Agents SDK: node openai-agents.mjs whole|stream [throws], whose tool throws once.
import { Agent, Runner, setDefaultOpenAIClient, setTracingExportApiKey, tool } from '@openai/agents';
import OpenAI from 'openai';
import { weather, weatherTool } from './weather.mjs';

const [, , mode, throws] = process.argv;
setDefaultOpenAIClient(new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${process.env.MODEL_URL}/v1` }));
setTracingExportApiKey('');
const agent = new Agent({
  name: 'Weather',
  model: 'gpt-4o-mini',
  instructions: 'You are a weather agent.',
  tools: [
    tool({
      name: weatherTool.name,
      description: weatherTool.description,
      parameters: weatherTool.parameters,
      strict: true,
      errorFunction: (_context, error) => `failed: ${error}`,
      execute: async (input) => {
        if (throws) throw new TypeError('no station is near Oslo');
        return weather(input);
      },
    }),
  ],
});
const runner = new Runner({ groupId: 'chat-7', traceMetadata: { userId: 'u7' } });
const result = await runner.run(agent, 'How is Oslo?', { stream: mode === 'stream' });
if (mode === 'stream') await result.completed;
console.log('ANSWER', result.finalOutput);
