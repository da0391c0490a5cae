// Ways in which real agents died, rebuilt with the libraries they died in: node deaths.mjs <name>. Each names the
// public report that it rebuilds. None catches what kills it.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { weather, weatherTool } from './weather.mjs';

const { MODEL_URL } = process.env;
const question = { role: 'user', content: 'How is Oslo?' };
const here = (file) => new URL(file, import.meta.url).pathname;

async function openai(options = {}) {
  const { default: OpenAI } = await import('openai');
  return new OpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${MODEL_URL}/v1`, maxRetries: 0, ...options });
}

async function anthropic(options = {}) {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: MODEL_URL, maxRetries: 0, ...options });
}

async function langGraph(nodes) {
  const { END, MessagesAnnotation, START, StateGraph } = await import('@langchain/langgraph');
  const { ChatOpenAI } = await import('@langchain/openai');
  const model = new ChatOpenAI({
    model: 'gpt-4o-mini',
    apiKey: 'sk-aaaaaaaaaaaa',
    maxRetries: 0,
    configuration: { baseURL: `${MODEL_URL}/v1` },
  });
  const graph = new StateGraph(MessagesAnnotation);
  let before = START;
  for (const [name, node] of Object.entries(nodes(model))) {
    graph.addNode(name, node).addEdge(before, name);
    before = name;
  }
  return graph.addEdge(before, END).compile();
}

/** Somebody else's signal: one that a program sends to itself is told as such. */
async function stoppedByAnother() {
  const { spawn } = await import('node:child_process');
  await once(spawn('sh', ['-c', `kill -TERM ${process.pid}`], { stdio: 'ignore' }), 'exit');
}

async function mcpClient(transport) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

async function mcpChild(file) {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  return mcpClient(
    new StdioClientTransport({ command: process.execPath, args: [here(file)], stderr: 'pipe' }),
  );
}

const deaths = {
  /** langchain-ai/langchainjs#11647: what a tool throws becomes an unhandled rejection. */
  async 'tool-throws'() {
    const { tool } = await import('@langchain/core/tools');
    const { z } = await import('zod');
    const lookUp = tool(
      async ({ city }) => {
        throw new TypeError(`no station is near ${city}`);
      },
      { name: 'get_weather', description: 'Weather', schema: z.object({ city: z.string() }) },
    );
    const graph = await langGraph(() => ({ tools: async () => lookUp.invoke({ city: 'Oslo' }) }));
    await graph.invoke({ messages: [question] });
  },

  /** langchain-ai/langchainjs#11289: a 429 in a sub-agent ends the session. */
  async 'rate-limit'() {
    const researcher = await langGraph((model) => ({
      research: async ({ messages }) => ({ messages: [await model.invoke(messages)] }),
    }));
    const planner = await langGraph(() => ({ delegate: async (state) => researcher.invoke(state) }));
    await planner.invoke({ messages: [question] });
  },

  /** langchain-ai/langchainjs#10933: the question to a person becomes an unhandled rejection. */
  async interrupt() {
    const { interrupt, MemorySaver, StateGraph, MessagesAnnotation, START, END } = await import(
      '@langchain/langgraph'
    );
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('approve', async () => {
        Promise.resolve().then(() => interrupt('May I send the mail?'));
        await delay(200);
        return {};
      })
      .addEdge(START, 'approve')
      .addEdge('approve', END)
      .compile({ checkpointer: new MemorySaver() });
    await graph.invoke({ messages: [question] }, { configurable: { thread_id: '1' } });
  },

  /** google-gemini/gemini-cli#21122, openai/openai-node#959: a turn is aborted, and its promise has no reader. */
  async abort() {
    const client = await openai();
    const controller = new AbortController();
    const stream = await client.chat.completions.create(
      { model: 'gpt-4o-mini', messages: [question], stream: true },
      { signal: controller.signal },
    );
    let frames = 0;
    for await (const _ of stream) if (++frames === 3) controller.abort();
    await client.chat.completions.create(
      { model: 'gpt-4o-mini', messages: [question] },
      { signal: controller.signal },
    );
  },

  /** anthropics/claude-code#13240 in short: the model stalls, and a time limit for the turn fires. */
  async timeout() {
    const response = await fetch(`${MODEL_URL}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [question], stream: true }),
      signal: AbortSignal.timeout(1000),
    });
    await response.text();
  },

  /** google-gemini/gemini-cli#14102: the MCP server behind HTTP is gone. */
  async 'mcp-http-gone'() {
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    );
    const { createServer } = await import('node:net');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    await mcpClient(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  },

  /** modelcontextprotocol/typescript-sdk#1049: the server dies in a call, and -32000 kills its client. */
  async 'mcp-server-dies'() {
    const client = await mcpChild('./mcp/mcp-dying-server.mjs');
    await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } });
  },

  /** earendil-works/pi#2928, pi-claude-bridge#82: EPIPE to a child that no longer reads. */
  async epipe() {
    const client = await mcpChild('./mcp/mcp-dying-server.mjs');
    const call = client.callTool({ name: 'get_weather', arguments: { city: 'x'.repeat(8_000_000) } });
    call.catch(() => {});
    client.transport._process.stdin.on('error', (error) => {
      throw error;
    });
    await delay(2000);
  },

  /** vercel/ai#4099: the API's error is nobody's. */
  async 'ai-sdk-error'() {
    const { generateText } = await import('ai');
    const { createOpenAI } = await import('@ai-sdk/openai');
    const model = createOpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${MODEL_URL}/v1` })('gpt-4o-mini');
    await generateText({ model, prompt: 'How is Oslo?', maxRetries: 0 });
  },

  /** openai/codex#1427: the client dies in its decoder of server-sent events. */
  async 'sse-garbage'() {
    const client = await openai();
    const stream = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [question],
      stream: true,
    });
    for await (const _ of stream);
  },

  /** anthropics/claude-code#1894, #473: resumed with a tool_use that has no result. */
  async 'dangling-tool-call'() {
    const client = await anthropic();
    const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } };
    const messages = [question, { role: 'assistant', content: [use] }, { role: 'user', content: 'Go on.' }];
    const { parameters: input_schema, ...tool } = weatherTool;
    await client.messages.create({
      model: 'claude-x',
      max_tokens: 100,
      messages,
      tools: [{ ...tool, input_schema }],
    });
  },

  /** mastra-ai/mastra#17055: the conversation outgrew the model. */
  async 'context-overflow'() {
    const client = await openai();
    const messages = [question];
    for (;;) {
      const { choices } = await client.chat.completions.create({ model: 'gpt-4o-mini', messages });
      messages.push(choices[0].message, { role: 'user', content: weather({ city: 'Oslo' }).repeat(50) });
    }
  },

  /** anthropics/claude-code#1428 and many others: the provider is overloaded, and the retries run out. */
  async overload() {
    const client = await anthropic({ maxRetries: 1 });
    await client.messages.create({ model: 'claude-x', max_tokens: 100, messages: [question] });
  },

  /** A plan that was asked for as JSON and came cut off: the commonest of malformed output. */
  async 'reply-no-json'() {
    const client = await openai();
    const { choices } = await client.chat.completions.create({ model: 'gpt-4o-mini', messages: [question] });
    const { steps } = JSON.parse(choices[0].message.content);
    console.log('ANSWER', steps.length);
  },

  /** google-gemini/gemini-cli#4411: a tool leaves a promise behind, and its rejection ends the process. */
  async 'floating-tool'() {
    const { generateText, jsonSchema, stepCountIs, tool } = await import('ai');
    const { createOpenAI } = await import('@ai-sdk/openai');
    const model = createOpenAI({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: `${MODEL_URL}/v1` })('gpt-4o-mini');
    const get_weather = tool({
      description: weatherTool.description,
      inputSchema: jsonSchema(weatherTool.parameters),
      async execute({ city }) {
        delay(30).then(() => {
          throw new RangeError(`the cache of ${city} is full`);
        });
        await delay(300);
        return weather({ city });
      },
    });
    await generateText({ model, prompt: 'How is Oslo?', tools: { get_weather }, stopWhen: stepCountIs(3) });
  },

  /** The same, of a tool that has returned, with another one at work beside it. */
  async 'floating-agents-tool'() {
    const { Agent, run, setDefaultOpenAIClient, setTracingExportApiKey, tool } = await import(
      '@openai/agents'
    );
    setDefaultOpenAIClient(await openai());
    setTracingExportApiKey('');
    const make = (name, execute) => tool({ ...weatherTool, name, strict: true, execute });
    const tools = [
      make('get_weather', async ({ city }) => {
        delay(100).then(() => {
          throw new RangeError(`the cache of ${city} is full`);
        });
        return weather({ city });
      }),
      // At work until the end, however long that takes.
      make('get_tide', () => delay(20_000, 'low')),
    ];
    await run(new Agent({ name: 'Weather', model: 'gpt-4o-mini', tools }), 'How is Oslo?');
  },

  /** The same in a graph whose nodes run side by side. */
  async 'floating-graph-tool'() {
    const { END, MessagesAnnotation, START, StateGraph } = await import('@langchain/langgraph');
    const { tool } = await import('@langchain/core/tools');
    const { z } = await import('zod');
    const lookUp = tool(
      async ({ city }) => {
        delay(100).then(() => {
          throw new RangeError(`the cache of ${city} is full`);
        });
        return weather({ city });
      },
      { name: 'get_weather', description: 'Weather', schema: z.object({ city: z.string() }) },
    );
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('weather', async () => void (await lookUp.invoke({ city: 'Oslo' })) ?? {})
      .addNode('tide', () => delay(600, {}))
      .addEdge(START, 'weather')
      .addEdge(START, 'tide')
      .addEdge('tide', END)
      .compile();
    await graph.invoke({ messages: [question] });
  },

  /** anthropics/claude-code#15909: the same command, again and again, until somebody stops it. */
  async livelock() {
    const client = await openai();
    const messages = [question];
    const tools = [{ type: 'function', function: weatherTool }];
    for (let turn = 0; ; turn++) {
      const { choices } = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools });
      const [{ message }] = choices;
      messages.push(message);
      for (const { id } of message.tool_calls)
        messages.push({ role: 'tool', tool_call_id: id, content: 'error: no such command' });
      if (turn < 9) continue;
      // Nobody is as quick as the preload's thread takes to start, before which a signal leaves no bundle.
      await delay(700);
      await stoppedByAnother();
    }
  },

  /** anthropics/claude-code#13240, #28482: nothing comes any more, until somebody stops it. */
  async stall() {
    const client = await openai();
    const stream = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [question],
      stream: true,
    });
    setTimeout(stoppedByAnother, 700);
    for await (const _ of stream);
  },
};

await deaths[process.argv[2]]();
console.log('ALIVE');
