/**
 * The recorded reply of each model call, as far as it can be replayed: whole, cut, or incomplete when the program died. For a
 * reply that was recorded only in part, the reason why it can't be replayed.
 */
import type { AgentEvent, Message, MessagePart } from '../../journal/layout/agent.ts';
import type { RecordedReply } from '../replies/reply.ts';

type Of<Kind extends AgentEvent['kind']> = Extract<AgentEvent, { kind: Kind }>;

interface CallEvents {
  headers?: Of<'model.headers'>;
  deltas: Of<'model.delta'>[];
  end?: Of<'model.end'>;
}

export function readReplies(events: readonly AgentEvent[]): Map<string, RecordedReply | { refused: string }> {
  const messages = new Map<string, Message>();
  const calls = new Map<string, CallEvents>();
  for (const event of events) {
    if (event.kind === 'message') messages.set(event.message, event);
    else if (event.kind === 'model.start') calls.set(event.call, { deltas: [] });
    else if (event.kind === 'model.headers') Object.assign(calls.get(event.call) ?? {}, { headers: event });
    else if (event.kind === 'model.delta') calls.get(event.call)?.deltas.push(event);
    else if (event.kind === 'model.end') Object.assign(calls.get(event.call) ?? {}, { end: event });
  }
  return new Map([...calls].map(([call, parts]) => [call, replyOf(call, parts, messages)]));
}

function replyOf(
  call: string,
  { headers, deltas, end }: CallEvents,
  messages: ReadonlyMap<string, Message>,
): RecordedReply | { refused: string } {
  const output = end?.output?.map((id) => messages.get(id));
  const gap = end?.attributes['agentdump.reply.gap'];
  if (gap !== undefined) return { refused: `its reply was not recorded whole: ${gap}` };
  if (output?.some((message) => message === undefined)) return { refused: 'its reply is no longer held' };
  const known = output?.map((message) => message?.parts ?? []) ?? [];
  const parts = known.length > 0 || end?.status === 'finished' ? known : [streamed(deltas)];
  if (JSON.stringify(parts).includes('…[cut: '))
    return { refused: 'its reply was too long to be kept whole' };
  const status = Number(
    end?.attributes['http.response.status_code'] ?? headers?.attributes['http.response.status_code'] ?? 0,
  );
  const attributes = end?.attributes ?? {};
  return {
    id: String(attributes['gen_ai.response.id'] ?? `replayed-${call}`),
    model: String(attributes['gen_ai.response.model'] ?? ''),
    messages: parts,
    finishReason: (attributes['gen_ai.response.finish_reasons'] as string[] | undefined)?.[0],
    usage: {
      input: Number(attributes['gen_ai.usage.input_tokens'] ?? 0),
      output: Number(attributes['gen_ai.usage.output_tokens'] ?? 0),
    },
    status,
    error: end?.error,
    headers: headersOf(headers?.attributes ?? {}),
    end: endOf(end, status),
  };
}

/** Without a status there was no answer: the connection failed. */
function endOf(end: Of<'model.end'> | undefined, status: number): RecordedReply['end'] {
  if (!end || end.status === 'aborted') return 'open';
  return end.status === 'cut' || status === 0 ? 'cut' : 'whole';
}

/** For a reply without an end: what had arrived. */
function streamed(deltas: readonly Of<'model.delta'>[]): MessagePart[] {
  const parts: MessagePart[] = [];
  const join = (field: 'text' | 'reasoning') => deltas.map((delta) => delta[field] ?? '').join('');
  const [reasoning, text] = [join('reasoning'), join('text')];
  if (reasoning) parts.push({ type: 'reasoning', content: reasoning });
  if (text) parts.push({ type: 'text', content: text });
  const tools = new Map<number, { id?: string; name: string; arguments: string }>();
  for (const tool of deltas.flatMap((delta) => delta.tools ?? [])) {
    const known = tools.get(tool.index) ?? { name: '', arguments: '' };
    if (tool.id !== undefined) known.id = tool.id;
    if (tool.name !== undefined) known.name = tool.name;
    known.arguments += tool.arguments ?? '';
    tools.set(tool.index, known);
  }
  for (const tool of tools.values()) parts.push({ type: 'tool_call', ...tool });
  return parts;
}

const headerPrefix = 'http.response.header.';
function headersOf(attributes: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      name.startsWith(headerPrefix) ? [[name.slice(headerPrefix.length), String(value)]] : [],
    ),
  );
}
