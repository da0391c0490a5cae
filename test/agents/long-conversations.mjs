// Conversations that are never cut, held as each library holds them: node long-conversations.mjs <library> <out.heapsnapshot>.
// The model server answers each question with a call of read_file, then with a text.
import { writeHeapSnapshot } from 'node:v8';

const [, , library, out] = process.argv;
const turns = 250;
const file = (turn) => Buffer.alloc(40_000, `line of file ${turn} `).toString('latin1');
const read = { name: 'read_file', description: 'Reads a file', turn: 0 };
const baseURL = `${process.env.MODEL_URL}/v1`;
const apiKey = 'sk-aaaaaaaaaaaa';
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const session = { messages: [] };
globalThis.session = session;

async function openai() {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({ apiKey, baseURL });
  const tools = [
    { type: 'function', function: { name: read.name, description: read.description, parameters } },
  ];
  return async (question) => {
    session.messages.push({ role: 'user', content: question });
    for (;;) {
      const messages = session.messages.slice(-4);
      const { choices } = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools });
      session.messages.push(choices[0].message);
      if (!choices[0].message.tool_calls?.length) return;
      for (const { id } of choices[0].message.tool_calls)
        session.messages.push({ role: 'tool', tool_call_id: id, content: file(read.turn++) });
    }
  };
}

async function langchain() {
  const { ChatOpenAI } = await import('@langchain/openai');
  const { HumanMessage } = await import('@langchain/core/messages');
  const { tool } = await import('@langchain/core/tools');
  const readFile = tool(() => file(read.turn++), {
    name: read.name,
    description: read.description,
    schema: parameters,
  });
  const model = new ChatOpenAI({ apiKey, model: 'gpt-4o-mini', configuration: { baseURL } }).bindTools([
    readFile,
  ]);
  return async (question) => {
    session.messages.push(new HumanMessage(question));
    for (;;) {
      const reply = await model.invoke(session.messages.slice(-4));
      session.messages.push(reply);
      if (!reply.tool_calls?.length) return;
      for (const call of reply.tool_calls)
        session.messages.push(await readFile.invoke({ ...call, type: 'tool_call' }));
    }
  };
}

async function ai() {
  const { generateText, jsonSchema, tool, stepCountIs } = await import('ai');
  const { createOpenAI } = await import('@ai-sdk/openai');
  const model = createOpenAI({ apiKey, baseURL }).chat('gpt-4o-mini');
  const tools = {
    read_file: tool({
      description: read.description,
      inputSchema: jsonSchema(parameters),
      execute: () => file(read.turn++),
    }),
  };
  return async (question) => {
    session.messages.push({ role: 'user', content: question });
    const messages = session.messages.slice(-1);
    const { steps } = await generateText({ model, tools, messages, stopWhen: stepCountIs(4) });
    session.messages.push(...steps.flatMap(({ response }) => response.messages));
  };
}

const ask = await { openai, langchain, ai }[library]();
for (let turn = 0; turn < turns; turn++) await ask(`What is in file ${turn}?`);
writeHeapSnapshot(out);
