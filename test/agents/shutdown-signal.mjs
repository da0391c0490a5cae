// An agent that answers question after question with the openai package, and can be stopped by one signal for all of them,
// as servers are: node shutdown-signal.mjs <package> <folder>. Writes a heap snapshot early and one late, for a comparison.
import { writeHeapSnapshot } from 'node:v8';

const [, , name, folder] = process.argv;
const { default: OpenAI } = await import(name);
const client = new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${process.env.MODEL_URL}/v1` });
const shutdown = new AbortController();
process.once('SIGTERM', () => shutdown.abort());

async function answer(question) {
  const messages = [
    { role: 'system', content: 'You are a weather agent.' },
    { role: 'user', content: `${question}: ${'how is it there? '.repeat(200)}` },
  ];
  const body = { model: 'gpt-4o-mini', messages };
  const { choices } = await client.chat.completions.create(body, { signal: shutdown.signal });
  return choices[0].message.content;
}

for (let turn = 1; turn <= 400; turn++) {
  await answer(`question ${turn}`);
  if (turn === 100) writeHeapSnapshot(`${folder}/early.heapsnapshot`);
}
writeHeapSnapshot(`${folder}/late.heapsnapshot`);
