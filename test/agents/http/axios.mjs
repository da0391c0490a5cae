// A weather agent with axios alone, over node:http: node axios.mjs whole|stream.
import axios from 'axios';
import { weather, weatherTool } from '../weather.mjs';

const [, , mode] = process.argv;
const client = axios.create({ baseURL: `${process.env.MODEL_URL}/v1` });
const messages = [
  { role: 'system', content: 'You are a weather agent.' },
  { role: 'user', content: 'How is Oslo?' },
];
const tools = [{ type: 'function', function: weatherTool }];

async function ask() {
  const stream = mode === 'stream';
  const body = { model: 'gpt-4o-mini', messages, tools, stream };
  const { data } = await client.post('/chat/completions', body, stream ? { responseType: 'stream' } : {});
  if (!stream) return data.choices[0].message;
  let text = '';
  for await (const chunk of data) text += chunk;
  const message = { role: 'assistant', content: null };
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
    if (delta.content) message.content = (message.content ?? '') + delta.content;
    for (const call of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      const known = message.tool_calls[call.index];
      if (known) known.function.arguments += call.function.arguments;
      else message.tool_calls[call.index] = { id: call.id, type: 'function', function: call.function };
    }
  }
  return message;
}

for (;;) {
  const message = await ask();
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log('ANSWER', message.content);
    break;
  }
  for (const call of message.tool_calls)
    messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content: weather(JSON.parse(call.function.arguments)),
    });
}
