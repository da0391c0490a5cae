// A weather agent on Responses, whose thread the server holds: node openai-responses.mjs whole|stream [package].
import { weather, weatherTool } from './weather.mjs';

const [, , mode, name = 'openai'] = process.argv;
const { default: OpenAI } = await import(name);
const client = new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${process.env.MODEL_URL}/v1` });
const tools = [{ type: 'function', strict: true, ...weatherTool }];
const common = { model: 'gpt-4o-mini', instructions: 'You are a weather agent.', tools };
let input = 'How is Oslo?';
let previous_response_id;
for (;;) {
  const request = { ...common, input, ...(previous_response_id ? { previous_response_id } : {}) };
  const response =
    mode === 'whole'
      ? await client.responses.create(request)
      : await client.responses.stream(request).finalResponse();
  previous_response_id = response.id;
  const calls = response.output.filter((item) => item.type === 'function_call');
  if (!calls.length) {
    console.log('ANSWER', response.output_text);
    break;
  }
  input = calls.map((call) => ({
    type: 'function_call_output',
    call_id: call.call_id,
    output: weather(JSON.parse(call.arguments)),
  }));
}
