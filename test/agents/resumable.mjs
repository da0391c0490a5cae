// A run that goes on after its death: node resumable.mjs ai-sdk|openai-agents whole|stream DIR LOG. Each tool call is
// noted in LOG; the one for Bergen dies by SIGKILL the first time.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { openRun } from '../../dist/resume/index.js';
import { weather, weatherTool } from './weather.mjs';

const [, , framework, mode, dir, log] = process.argv;
const run = openRun({ dir, id: 'weather', inDoubt: process.env.IN_DOUBT ?? 'retry' });
const baseURL = `${process.env.MODEL_URL}/v1`;
const { name, description, parameters } = weatherTool;

async function execute({ city }) {
  const seen = existsSync(log) ? readFileSync(log, 'utf8') : '';
  appendFileSync(log, `${city}\n`);
  if (city === 'Bergen' && !seen.includes(city)) process.kill(process.pid, 'SIGKILL');
  return weather({ city });
}

if (framework === 'ai-sdk') {
  const ai = await import('ai');
  const { createOpenAI } = await import('@ai-sdk/openai');
  const model = createOpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL, fetch: run.fetch })('gpt-4o-mini');
  const tools = run.tools({
    [name]: ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute }),
  });
  const wish = { model, prompt: 'How are Oslo and Bergen?', stopWhen: ai.stepCountIs(5), tools };
  if (mode === 'whole') console.log('ANSWER', (await ai.generateText(wish)).text);
  else console.log('ANSWER', await ai.streamText(wish).text);
} else {
  const {
    Agent,
    run: runAgent,
    setDefaultOpenAIClient,
    setTracingDisabled,
    tool,
  } = await import('@openai/agents');
  const { default: OpenAI } = await import('openai');
  setTracingDisabled(true);
  setDefaultOpenAIClient(new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL, fetch: run.fetch }));
  const tools = run.tools([tool({ name, description, parameters, strict: true, execute })]);
  const agent = new Agent({ name: 'Weather', model: 'gpt-4o-mini', tools });
  const result = await runAgent(agent, 'How are Oslo and Bergen?', { stream: mode === 'stream' });
  if (mode === 'stream') await result.completed;
  console.log('ANSWER', result.finalOutput);
}
run.close();
