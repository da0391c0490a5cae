// A weather agent on messages with Anthropic's package, its own loop: node anthropic.mjs whole|stream.
import Anthropic from '@anthropic-ai/sdk';
import { weather, weatherTool } from './weather.mjs';

const [, , mode] = process.argv;
const client = new Anthropic({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: process.env.MODEL_URL });
const { parameters: input_schema, ...tool } = weatherTool;
const messages = [{ role: 'user', content: 'How is Oslo?' }];
const common = {
  model: 'claude-x',
  max_tokens: 500,
  metadata: { user_id: 'u7' },
  system: 'You are a weather agent.',
  tools: [{ ...tool, input_schema }],
};
for (;;) {
  const reply =
    mode === 'whole'
      ? await client.messages.create({ ...common, messages })
      : await client.messages.stream({ ...common, messages }).finalMessage();
  messages.push({ role: 'assistant', content: reply.content });
  const uses = reply.content.filter((block) => block.type === 'tool_use');
  if (!uses.length) {
    console.log('ANSWER', reply.content[0].text);
    break;
  }
  messages.push({
    role: 'user',
    content: uses.map((use) => ({ type: 'tool_result', tool_use_id: use.id, content: weather(use.input) })),
  });
}
