/**
 * The wire formats of three model APIs, restated for the mock server: how a request becomes a plain conversation, and how a
 * scripted reply is written, whole or as a stream of events. Shares no code with src.
 */

/** A message as the model sees it. */
export interface OracleMessage {
  role: string;
  text?: string;
  toolCalls?: { id: string; name: string; arguments: unknown }[];
  toolResults?: { id: string; content: string }[];
}

export interface OracleReply {
  id: string;
  model: string;
  text: string;
  toolCalls: { id: string; name: string; arguments: unknown }[];
  usage: { input: number; output: number };
}

export interface OracleRequest {
  model: string;
  stream: boolean;
  system?: string;
  /** Only the new items if the server stores the thread. */
  messages: OracleMessage[];
  /** Id of the reply that this request continues. */
  continues?: string;
  tools: string[];
}

export interface ModelApi {
  name: 'openai-chat' | 'openai-responses' | 'anthropic';
  path: RegExp;
  read(body: Json): OracleRequest;
  whole(reply: OracleReply): Json;
  /** Events in the order of sending; `text` is the piece of the reply's text that an event carries. */
  events(reply: OracleReply, frames: number): MockEvent[];
  error(status: number, message: string): Json;
}

export interface MockEvent {
  name?: string;
  data: Json | '[DONE]';
  text?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of foreign formats, read where the test's own request is known.
type Json = any;

/** `text` split into about `count` pieces. */
function pieces(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
}

function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part: Json) => part.text ?? '').join('');
}

function message(role: string, text: string, more: Partial<OracleMessage> = {}): OracleMessage {
  return { role, ...(text ? { text } : {}), ...more };
}

const openaiChat: ModelApi = {
  name: 'openai-chat',
  path: /\/chat\/completions$/,
  read(body) {
    const [first, ...rest] = body.messages;
    const hasSystem = first?.role === 'system' || first?.role === 'developer';
    const messages = (hasSystem ? rest : body.messages).map((m: Json) => {
      if (m.role === 'tool')
        return { role: 'tool', toolResults: [{ id: m.tool_call_id, content: textOf(m.content) }] };
      const toolCalls = m.tool_calls?.map((call: Json) => ({
        id: call.id,
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments),
      }));
      return message(m.role, textOf(m.content), toolCalls?.length ? { toolCalls } : {});
    });
    return {
      model: body.model,
      stream: body.stream === true,
      ...(hasSystem ? { system: textOf(first.content) } : {}),
      messages,
      tools: (body.tools ?? []).map((tool: Json) => tool.function.name),
    };
  },
  whole: (reply) => ({
    id: reply.id,
    object: 'chat.completion',
    created: 1700000000,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text || null,
          refusal: null,
          ...(reply.toolCalls.length
            ? {
                tool_calls: reply.toolCalls.map((call) => ({
                  id: call.id,
                  type: 'function',
                  function: { name: call.name, arguments: JSON.stringify(call.arguments) },
                })),
              }
            : {}),
        },
        logprobs: null,
        finish_reason: reply.toolCalls.length ? 'tool_calls' : 'stop',
      },
    ],
    usage: chatUsage(reply),
  }),
  events(reply, frames) {
    const chunk = (delta: Json, finish: string | null = null, more: Json = {}) => ({
      id: reply.id,
      object: 'chat.completion.chunk',
      created: 1700000000,
      model: reply.model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...more,
    });
    const events: MockEvent[] = [{ data: chunk({ role: 'assistant', content: '' }) }];
    for (const text of pieces(reply.text, frames)) events.push({ data: chunk({ content: text }), text });
    for (const [index, call] of reply.toolCalls.entries()) {
      const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
      events.push({ data: chunk({ tool_calls: [start] }) });
      for (const piece of pieces(JSON.stringify(call.arguments), 3))
        events.push({ data: chunk({ tool_calls: [{ index, function: { arguments: piece } }] }) });
    }
    events.push({ data: chunk({}, reply.toolCalls.length ? 'tool_calls' : 'stop') });
    events.push({ data: { ...chunk({}), choices: [], usage: chatUsage(reply) } });
    events.push({ data: '[DONE]' });
    return events;
  },
  error: (status, text) => ({
    error: {
      message: text,
      type: status === 429 ? 'rate_limit_exceeded' : 'server_error',
      param: null,
      code: null,
    },
  }),
};

function chatUsage({ usage }: OracleReply): Json {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

const openaiResponses: ModelApi = {
  name: 'openai-responses',
  path: /\/responses$/,
  read(body) {
    const input =
      typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
    const messages: OracleMessage[] = [];
    let system: string | undefined = body.instructions ?? undefined;
    for (const item of input) {
      if (item.type === 'function_call') {
        const call = { id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) };
        messages.push({ role: 'assistant', toolCalls: [call] });
      } else if (item.type === 'function_call_output')
        messages.push({ role: 'tool', toolResults: [{ id: item.call_id, content: textOf(item.output) }] });
      else if (item.role === 'system' || item.role === 'developer') system = textOf(item.content);
      else if (item.role) messages.push(message(item.role, textOf(item.content)));
      else if (item.type === 'item_reference') messages.push({ role: 'reference', text: item.id });
    }
    return {
      model: body.model,
      stream: body.stream === true,
      ...(system === undefined ? {} : { system }),
      messages,
      ...(body.previous_response_id ? { continues: body.previous_response_id } : {}),
      tools: (body.tools ?? []).map((tool: Json) => tool.name),
    };
  },
  whole: (reply) => responseObject(reply, 'completed', responseOutput(reply)),
  events(reply, frames) {
    const events: MockEvent[] = [];
    let sequence = 0;
    const push = (type: string, more: Json, text?: string) =>
      events.push({
        name: type,
        data: { type, sequence_number: sequence++, ...more },
        ...(text === undefined ? {} : { text }),
      });
    push('response.created', { response: responseObject(reply, 'in_progress', []) });
    for (const [output_index, item] of responseOutput(reply).entries()) {
      if (item.type === 'message') {
        const at = { item_id: item.id, output_index, content_index: 0 };
        push('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        });
        push('response.content_part.added', {
          ...at,
          part: { type: 'output_text', text: '', annotations: [] },
        });
        for (const delta of pieces(reply.text, frames))
          push('response.output_text.delta', { ...at, delta }, delta);
        push('response.output_text.done', { ...at, text: reply.text });
        push('response.content_part.done', { ...at, part: item.content[0] });
      } else {
        push('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        });
        for (const delta of pieces(item.arguments, 3))
          push('response.function_call_arguments.delta', { item_id: item.id, output_index, delta });
        push('response.function_call_arguments.done', {
          item_id: item.id,
          output_index,
          arguments: item.arguments,
        });
      }
      push('response.output_item.done', { output_index, item });
    }
    push('response.completed', { response: responseObject(reply, 'completed', responseOutput(reply)) });
    return events;
  },
  error: openaiChat.error,
};

function responseOutput(reply: OracleReply): Json[] {
  const output: Json[] = [];
  if (reply.text)
    output.push({
      id: `msg_${reply.id}`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }],
    });
  for (const call of reply.toolCalls)
    output.push({
      id: `fc_${call.id}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    });
  return output;
}

function responseObject(reply: OracleReply, status: string, output: Json[]): Json {
  const { input, output: written } = reply.usage;
  return {
    id: reply.id,
    object: 'response',
    created_at: 1700000000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: reply.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage:
      status === 'completed'
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: written,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + written,
          }
        : null,
  };
}

const anthropic: ModelApi = {
  name: 'anthropic',
  path: /\/v1\/messages$/,
  read(body) {
    const messages = (body.messages ?? []).map((m: Json): OracleMessage => {
      if (typeof m.content === 'string') return message(m.role, m.content);
      const text = textOf(m.content.filter((block: Json) => block.type === 'text'));
      const toolCalls = m.content
        .filter((block: Json) => block.type === 'tool_use')
        .map((block: Json) => ({ id: block.id, name: block.name, arguments: block.input }));
      const toolResults = m.content
        .filter((block: Json) => block.type === 'tool_result')
        .map((block: Json) => ({ id: block.tool_use_id, content: textOf(block.content) }));
      return message(m.role, text, {
        ...(toolCalls.length ? { toolCalls } : {}),
        ...(toolResults.length ? { toolResults } : {}),
      });
    });
    return {
      model: body.model,
      stream: body.stream === true,
      ...(body.system ? { system: textOf(body.system) } : {}),
      messages,
      ...(body.thread?.previous_message_id ? { continues: body.thread.previous_message_id } : {}),
      tools: (body.tools ?? []).map((tool: Json) => tool.name),
    };
  },
  whole: (reply) => ({
    ...anthropicHead(reply),
    content: anthropicBlocks(reply),
    stop_reason: reply.toolCalls.length ? 'tool_use' : 'end_turn',
    usage: { input_tokens: reply.usage.input, output_tokens: reply.usage.output },
  }),
  events(reply, frames) {
    const events: MockEvent[] = [];
    const push = (type: string, more: Json, text?: string) =>
      events.push({ name: type, data: { type, ...more }, ...(text === undefined ? {} : { text }) });
    push('message_start', { message: anthropicHead(reply) });
    for (const [index, block] of anthropicBlocks(reply).entries()) {
      const isText = block.type === 'text';
      push('content_block_start', {
        index,
        content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
      });
      if (isText)
        for (const text of pieces(block.text, frames))
          push('content_block_delta', { index, delta: { type: 'text_delta', text } }, text);
      else
        for (const partial_json of pieces(JSON.stringify(block.input), 3))
          push('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
      push('content_block_stop', { index });
    }
    const stop_reason = reply.toolCalls.length ? 'tool_use' : 'end_turn';
    push('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: reply.usage.output },
    });
    push('message_stop', {});
    return events;
  },
  error: (status, text) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: text },
  }),
};

function anthropicHead(reply: OracleReply): Json {
  return {
    id: reply.id,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: reply.usage.input, output_tokens: 1 },
  };
}

function anthropicBlocks(reply: OracleReply): Json[] {
  const calls = reply.toolCalls.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: call.arguments,
  }));
  return reply.text ? [{ type: 'text', text: reply.text }, ...calls] : calls;
}

export const modelApis: ModelApi[] = [openaiChat, openaiResponses, anthropic];
