// A run that throws and is caught: alone, and inside of a trace of the program's own, which goes on after it.
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, withTrace } from '@openai/agents';
import OpenAI from 'openai';

const [tracing] = process.argv.slice(2);
setDefaultOpenAIClient(new OpenAI({ apiKey: 'key', baseURL: 'http://127.0.0.1:25/v1', maxRetries: 0 }));
if (tracing === 'off') setTracingDisabled(true);
const agent = new Agent({ name: 'planner', instructions: 'Plan', model: 'gpt-4o-mini' });
await run(agent, 'Oslo').catch(() => {});
void withTrace('the day', async () => {
  await run(agent, 'Bergen').catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 200));
  console.log('went on');
  process.exit(0);
});
