// A weather agent with the npm package undici: node undici.mjs whole|stream.
import { request } from 'undici';
import { weather, weatherTool } from '../weather.mjs';

const [, , mode] = process.argv;
const { parameters: input_schema, ...tool } = weatherTool;
const messages = [{ role: 'user', content: 'How is Oslo?' }];
for (;;) {
  const { body } = await request(`${process.env.MODEL_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-aaaaaaaaaaaa' },
    body: JSON.stringify({
      model: 'claude-x',
      max_tokens: 500,
      stream: mode === 'stream',
      system: 'You are a weather agent.',
      tools: [{ ...tool, input_schema }],
      messages,
    }),
  });
  const text = await body.text();
  const blocks = mode === 'stream' ? readStream(text) : JSON.parse(text).content;
  messages.push({ role: 'assistant', content: blocks });
  const uses = blocks.filter((block) => block.type === 'tool_use');
  if (!uses.length) {
    console.log('ANSWER', blocks[0].text);
    break;
  }
  messages.push({
    role: 'user',
    content: uses.map((use) => ({ type: 'tool_result', tool_use_id: use.id, content: weather(use.input) })),
  });
}

function readStream(text) {
  const blocks = [];
  const inputs = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const event = JSON.parse(line.slice(6));
    if (event.type === 'content_block_start') blocks[event.index] = event.content_block;
    if (event.delta?.type === 'text_delta') blocks[event.index].text += event.delta.text;
    if (event.delta?.type === 'input_json_delta')
      inputs[event.index] = (inputs[event.index] ?? '') + event.delta.partial_json;
  }
  for (const [index, json] of inputs.entries()) if (json) blocks[index].input = JSON.parse(json);
  return blocks;
}
