// A weather agent on chat completions with the openai package: node openai-chat.mjs whole|stream [package].
import { weather, weatherTool } from './weather.mjs';

const [, , mode, name = 'openai'] = process.argv;
const { default: OpenAI } = await import(name);
const client = new OpenAI({
  apiKey: 'sk-aaaaaaaaaaaa',
  baseURL: `${process.env.MODEL_URL}/v1`,
  maxRetries: 1,
});
const messages = [
  { role: 'system', content: 'You are a weather agent.' },
  { role: 'user', content: 'How is Oslo?' },
];
const tools = [{ type: 'function', function: weatherTool }];

async function ask() {
  if (mode === 'whole') {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      tools,
      user: 'u7',
    });
    return choices[0].message;
  }
  // Major 4, which speaks over node:http, keeps it elsewhere.
  const { completions } = client.chat.completions.stream ? client.chat : client.beta.chat;
  const runner = completions.stream({ model: 'gpt-4o-mini', messages, tools, user: 'u7' });
  return (await runner.finalChatCompletion()).choices[0].message;
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
