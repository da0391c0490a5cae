// A weather agent on the AI SDK: node ai-sdk.mjs whole|stream [7|6] [chat].
import { weather, weatherTool } from './weather.mjs';

const [, , mode, major = '7', api] = process.argv;
const ai = await import(major === '7' ? 'ai' : 'ai-6');
const { createOpenAI } = await import(major === '7' ? '@ai-sdk/openai' : 'ai-sdk-openai-3');
const openai = createOpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${process.env.MODEL_URL}/v1` });
const common = {
  model: api === 'chat' ? openai.chat('gpt-4o-mini') : openai('gpt-4o-mini'),
  system: 'You are a weather agent.',
  prompt: 'How is Oslo?',
  stopWhen: ai.stepCountIs(5),
  tools: {
    get_weather: ai.tool({
      description: weatherTool.description,
      inputSchema: ai.jsonSchema(weatherTool.parameters),
      execute: async (input) => weather(input),
    }),
  },
};
if (mode === 'whole') console.log('ANSWER', (await ai.generateText(common)).text);
else {
  const result = ai.streamText(common);
  let text = '';
  for await (const piece of result.textStream) text += piece;
  console.log('ANSWER', text);
}
