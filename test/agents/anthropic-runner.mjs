// The same with Anthropic's tool runner, which lets the server hold the thread: node anthropic-runner.mjs whole|stream.
import Anthropic from '@anthropic-ai/sdk';
import { weather, weatherTool } from './weather.mjs';

const [, , mode] = process.argv;
const client = new Anthropic({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: process.env.MODEL_URL });
const { parameters: input_schema, ...tool } = weatherTool;
const runner = client.beta.messages.toolRunner({
  model: 'claude-x',
  max_tokens: 500,
  system: 'You are a weather agent.',
  messages: [{ role: 'user', content: 'How is Oslo?' }],
  tools: [{ ...tool, type: 'custom', input_schema, run: weather, parse: (input) => input }],
  stream: mode === 'stream',
});
if (mode === 'stream') for await (const stream of runner) await stream.finalMessage();
const last = mode === 'stream' ? await runner.done() : await runner;
console.log('ANSWER', last.content[0].text);
