/**
 * What a span means for an agent. Reads two vocabularies, OpenTelemetry's GenAI conventions (`gen_ai.operation.name`) and
 * OpenInference (`openinference.span.kind`), and span names of the AI SDK 6 (`ai.toolCall`) and of Anthropic's
 * instrumentation (`anthropic.messages.create`). Names count because a library may set its attributes only at the end.
 */
import { parseArguments } from '../calls/json.ts';
import type { SpanLike } from './span.ts';

export type SpanMeaning =
  | { kind: 'run'; name: string }
  /** A run if it is outermost, otherwise a step. */
  | { kind: 'chain'; name: string; input?: unknown }
  | { kind: 'tool'; name: string; arguments?: unknown; callId?: string }
  | { kind: 'model' };

type Attributes = SpanLike['attributes'];

const runs = new Set(['invoke_agent', 'invoke_workflow', 'AGENT']);
const models = new Set(['chat', 'generate_content', 'text_completion', 'LLM']);
const tools = new Set(['execute_tool', 'TOOL']);
const chains = new Set(['CHAIN', 'plan']);

/** Undefined for spans about something else. */
export function findMeaning({ name, attributes }: SpanLike): SpanMeaning | undefined {
  const kind =
    textOf(attributes, 'openinference.span.kind') ??
    textOf(attributes, 'gen_ai.operation.name') ??
    kindOfName(name);
  if (kind === undefined) return undefined;
  if (models.has(kind)) return { kind: 'model' };
  if (tools.has(kind)) return toolOf(name, attributes);
  if (runs.has(kind))
    return { kind: 'run', name: textOf(attributes, 'gen_ai.agent.name') ?? secondWord(name) };
  if (!chains.has(kind)) return undefined;
  const input = parsed(attributes['input.value']);
  return { kind: 'chain', name, ...(input === undefined ? {} : { input }) };
}

const names: readonly [RegExp, string][] = [
  [/^ai\.(?:generate|stream)(?:Text|Object)$/, 'AGENT'],
  [/^ai\.(?:generate|stream)(?:Text|Object)\.do(?:Generate|Stream)$/, 'LLM'],
  [/^ai\.toolCall$/, 'TOOL'],
  [/^anthropic\.messages\.tool_runner\b/, 'AGENT'],
  [/^anthropic\.messages\.(?:create|stream)\b/, 'LLM'],
  [/^anthropic\.\w*tool_use\b/, 'TOOL'],
  [/^(?:invoke_agent|invoke_workflow)\b/, 'invoke_agent'],
  [/^execute_tool\b/, 'execute_tool'],
];

function kindOfName(name: string): string | undefined {
  return names.find(([pattern]) => pattern.test(name))?.[1];
}

function toolOf(name: string, attributes: Attributes): SpanMeaning {
  const given =
    attributes['gen_ai.tool.call.arguments'] ??
    attributes['ai.toolCall.args'] ??
    attributes['tool.parameters'] ??
    attributes['input.value'];
  const callId = first(attributes, ['gen_ai.tool.call.id', 'ai.toolCall.id', 'tool_call.id', 'tool.id']);
  const called = first(attributes, ['gen_ai.tool.name', 'ai.toolCall.name', 'tool.name']) ?? secondWord(name);
  return {
    kind: 'tool',
    name: called,
    ...(given === undefined ? {} : { arguments: parsed(given) }),
    ...(callId === undefined ? {} : { callId }),
  };
}

/** The result of a tool, which is known at the span's end. */
export function resultOf(attributes: Attributes): unknown {
  return parsed(
    attributes['gen_ai.tool.call.result'] ?? attributes['ai.toolCall.result'] ?? attributes['output.value'],
  );
}

function first(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = textOf(attributes, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** `search` in `execute_tool search`. */
function secondWord(name: string): string {
  const space = name.indexOf(' ');
  return space === -1 ? name : name.slice(space + 1);
}

export function textOf(attributes: Attributes, key: string): string | undefined {
  const value = attributes[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Parsed if the text is JSON, otherwise unchanged. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' ? parseArguments(value) : value;
}
