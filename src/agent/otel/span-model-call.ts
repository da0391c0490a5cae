/**
 * The model call that a span describes: its messages and figures, under the names of the GenAI conventions. OpenInference
 * spreads messages over one attribute per field (`llm.input_messages.0.message.role`).
 */
import type { Attributes, Message, MessagePart } from '../../journal/layout/agent.ts';
import { arrayOf, objectOf, parseArguments, parseJson } from '../calls/json.ts';
import { roleOf, textMessage } from '../calls/message-parts.ts';
import type { SpanLike } from './span.ts';
import { textOf } from './span-meaning.ts';

export interface SpanModelCall {
  input: Message[];
  output: Message[];
  attributes: Attributes;
}

const mostMessages = 1000;
const mostToolCalls = 100;
/** A limit, because each figure is searched for secrets. */
const mostFigures = 200;

/** Names of OpenInference to those of the conventions. */
const renamed: Record<string, string> = {
  'llm.model_name': 'gen_ai.request.model',
  'llm.provider': 'gen_ai.provider.name',
  'gen_ai.system': 'gen_ai.provider.name',
  'llm.token_count.prompt': 'gen_ai.usage.input_tokens',
  'llm.token_count.completion': 'gen_ai.usage.output_tokens',
  'llm.token_count.prompt_details.cache_read': 'gen_ai.usage.cache_read.input_tokens',
  'ai.model.id': 'gen_ai.request.model',
  'ai.usage.inputTokens': 'gen_ai.usage.input_tokens',
  'ai.usage.outputTokens': 'gen_ai.usage.output_tokens',
};
const kept =
  /^(?:gen_ai\.(?:operation\.name|provider\.name|request\.|response\.|usage\.|conversation\.id)|server\.|error\.type)/;

/** The provider's id of the reply. */
export function responseIdOf(attributes: SpanLike['attributes']): string | undefined {
  return textOf(attributes, 'gen_ai.response.id') ?? textOf(attributes, 'ai.response.id');
}

export function modelOf(attributes: SpanLike['attributes']): string | undefined {
  const names = ['gen_ai.request.model', 'llm.model_name', 'ai.model.id'];
  return names.map((name) => textOf(attributes, name)).find((model) => model !== undefined);
}

export function readModelCall({ attributes }: SpanLike): SpanModelCall {
  const figures: Attributes = {};
  let count = 0;
  for (const [name, value] of Object.entries(attributes)) {
    const known = renamed[name] ?? (kept.test(name) ? name : undefined);
    if (known === undefined || !isFigure(value)) continue;
    if (++count > mostFigures) break;
    figures[known] ??= value;
  }
  const output = messagesOf(attributes, 'gen_ai.output.messages', 'llm.output_messages');
  const spoken = textOf(attributes, 'ai.response.text');
  if (!output.length && spoken !== undefined) output.push(textMessage('assistant', spoken));
  return { input: inputOf(attributes), output, attributes: figures };
}

function inputOf(attributes: SpanLike['attributes']): Message[] {
  const input = messagesOf(attributes, 'gen_ai.input.messages', 'llm.input_messages');
  const system = arrayOf(parseJson(textOf(attributes, 'gen_ai.system_instructions') ?? ''));
  if (system.length) input.unshift({ role: 'system', parts: system.map(partOf) });
  if (input.length) return input;
  return arrayOf(parseJson(textOf(attributes, 'ai.prompt.messages') ?? ''))
    .slice(0, mostMessages)
    .map(messageOf);
}

function isFigure(value: unknown): value is string | number | boolean | string[] {
  if (Array.isArray(value))
    return value.length <= mostFigures && value.every((item) => typeof item === 'string');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function messagesOf(attributes: SpanLike['attributes'], semantic: string, spread: string): Message[] {
  const value = attributes[semantic];
  const list = arrayOf(typeof value === 'string' ? parseJson(value) : value);
  if (list.length) return list.slice(0, mostMessages).map(messageOf);
  return spreadMessages(attributes, spread);
}

function messageOf(value: unknown): Message {
  const { role, parts, content } = objectOf(value);
  const list = Array.isArray(parts) ? parts : Array.isArray(content) ? content : undefined;
  if (list) return { role: roleOf(role), parts: list.map(partOf) };
  return textMessage(roleOf(role), typeof content === 'string' ? content : (JSON.stringify(content) ?? ''));
}

const known = new Set(['text', 'reasoning', 'tool_call', 'tool_call_response', 'uri', 'file', 'refusal']);

function partOf(value: unknown): MessagePart {
  const part = objectOf(value);
  const { type } = part;
  // An example of the conventions uses `result`, but the schema `response`.
  if (type === 'tool_call_response' && part['response'] === undefined)
    return { ...part, type, response: part['result'] } as MessagePart;
  if (type === 'text' && typeof part['text'] === 'string') return { type, content: part['text'] };
  if (typeof type === 'string' && known.has(type)) return part as MessagePart;
  return { type: 'other', kind: typeof type === 'string' ? type : 'unknown', value };
}

function spreadMessages(attributes: SpanLike['attributes'], prefix: string): Message[] {
  const messages: Message[] = [];
  for (let i = 0; i < mostMessages; i++) {
    const at = `${prefix}.${i}.message`;
    const role = textOf(attributes, `${at}.role`);
    if (role === undefined) break;
    const content = textOf(attributes, `${at}.content`);
    const answers = textOf(attributes, `${at}.tool_call_id`);
    const text: MessagePart[] = content === undefined ? [] : [{ type: 'text', content }];
    const parts: MessagePart[] =
      answers === undefined ? text : [{ type: 'tool_call_response', id: answers, response: content ?? '' }];
    messages.push({
      role: roleOf(role),
      parts: [...parts, ...spreadToolCalls(attributes, `${at}.tool_calls`)],
    });
  }
  return messages;
}

function spreadToolCalls(attributes: SpanLike['attributes'], prefix: string): MessagePart[] {
  const parts: MessagePart[] = [];
  for (let i = 0; i < mostToolCalls; i++) {
    const at = `${prefix}.${i}.tool_call`;
    const name = textOf(attributes, `${at}.function.name`);
    if (name === undefined) break;
    const id = textOf(attributes, `${at}.id`);
    const given = textOf(attributes, `${at}.function.arguments`);
    parts.push({
      type: 'tool_call',
      name,
      ...(id !== undefined && { id }),
      ...(given !== undefined && { arguments: parseArguments(given) }),
    });
  }
  return parts;
}
