// Spans of an agent by OpenTelemetry's SDK: node otel.mjs genai|openinference|anthropic. Ends by a throw in a tool.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';

const { AgentdumpSpanProcessor } = await import(process.env.AGENTDUMP_OTEL);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new AgentdumpSpanProcessor()] }));
const tracer = trace.getTracer('test');

const inSpan = (name, attributes, work, atEnd = {}) =>
  tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.recordException(error);
      span.setStatus({ code: 2, message: error.message });
      throw error;
    } finally {
      span.setAttributes(atEnd).end();
    }
  });
const broken = async () => {
  throw new TypeError('no such city');
};
const message = (role, content) => ({ role, parts: [{ type: 'text', content }] });

const programs = {
  genai: () =>
    inSpan(
      'invoke_agent weather',
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather' },
      async () => {
        await inSpan(
          'chat local-model',
          { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'local-model' },
          async () => {},
          {
            'gen_ai.provider.name': 'llama.cpp',
            'gen_ai.usage.input_tokens': 12,
            'gen_ai.usage.output_tokens': 3,
            'gen_ai.input.messages': JSON.stringify([message('user', 'How is Oslo?')]),
            'gen_ai.output.messages': JSON.stringify([
              {
                role: 'assistant',
                parts: [
                  { type: 'tool_call', id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } },
                ],
              },
            ]),
          },
        );
        await inSpan(
          'execute_tool get_weather',
          { 'gen_ai.tool.call.id': 'call_1', 'gen_ai.tool.name': 'get_weather' },
          broken,
        );
      },
    ),
  openinference: () =>
    inSpan('graph', { 'openinference.span.kind': 'CHAIN' }, () =>
      inSpan(
        'agent node',
        { 'openinference.span.kind': 'CHAIN', 'input.value': '{"city":"Oslo"}' },
        async () => {
          await inSpan(
            'ChatLocal',
            { 'openinference.span.kind': 'LLM', 'llm.model_name': 'local-model' },
            async () => {},
            {
              'llm.token_count.prompt': 12,
              'llm.token_count.completion': 3,
              'llm.input_messages.0.message.role': 'user',
              'llm.input_messages.0.message.content': 'How is Oslo?',
              'llm.output_messages.0.message.role': 'assistant',
              'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'call_1',
              'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
              'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city":"Oslo"}',
            },
          );
          await inSpan(
            'get_weather',
            {
              'openinference.span.kind': 'TOOL',
              'tool.name': 'get_weather',
              'tool.parameters': '{"city":"Oslo"}',
            },
            broken,
          );
        },
      ),
    ),
  /** Two calls over the wire, and one of a model in the process, all at once; then a span around two attempts. */
  async mixed() {
    const ask = (path) =>
      fetch(`${process.env.MODEL_URL}/v1/chat/completions${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'How is Oslo?' }] }),
      }).then((reply) => reply.text());
    const chat = (model, work) =>
      inSpan(`chat ${model}`, { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model }, work, {
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 3,
      });
    const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
    await Promise.all([
      chat('gpt-x', () => ask('')),
      chat('local-model', pause),
      chat('gpt-x', () => inSpan('POST', {}, () => ask(''))),
    ]);
    await chat('gpt-x', async () => {
      await ask('');
      await ask('');
    });
    await broken();
  },
  async anthropic() {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({ apiKey: 'sk-aaaaaaaaaaaa', baseURL: process.env.MODEL_URL });
    await client.messages.create({
      model: 'claude-x',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'How is Oslo?' }],
    });
    await inSpan(
      'execute_tool get_weather',
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather' },
      broken,
    );
  },
};
await programs[process.argv[2]]();
