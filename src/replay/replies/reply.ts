/**
 * A recorded reply in words that every wire format shares, and what a format makes of it. Knows nothing of sockets.
 */
import type { EventError, MessagePart } from '../../journal/layout/agent.ts';

export interface RecordedReply {
  id: string;
  model: string;
  /** Parts of each message of the reply. */
  messages: MessagePart[][];
  finishReason: string | undefined;
  usage: { input: number; output: number };
  /** HTTP status; an error where it is 400 or more. */
  status: number;
  error: EventError | undefined;
  headers: Record<string, string>;
  /** cut: the connection ends before the reply does. open: it was still being given when the program died. */
  end: 'whole' | 'cut' | 'open';
}

export interface ServerEvent {
  name?: string;
  data: unknown;
}

export interface ReplyFormat {
  /** How a stream is written; as server-sent events where this is absent. */
  stream?: { type: string; encode(event: ServerEvent): string | Uint8Array };
  /** A reply, or the part of it that was recorded, as one JSON document. */
  whole(reply: RecordedReply): unknown;
  /** The same as a stream. The last ones say that it is complete, and are left out of what was cut. */
  events(reply: RecordedReply): { events: ServerEvent[]; closing: ServerEvent[] };
  error(reply: RecordedReply): unknown;
}

export type ToolCallPart = Extract<MessagePart, { type: 'tool_call' }>;

export const isToolCall = (part: MessagePart): part is ToolCallPart => part.type === 'tool_call';

/** Of all messages. */
export function toolCallsOf({ messages }: RecordedReply): ToolCallPart[] {
  return messages.flat().filter(isToolCall);
}

export function textOf({ messages }: RecordedReply): string {
  return messages
    .flatMap((parts) => parts.map((part) => (part.type === 'text' ? part.content : '')))
    .join('');
}

export function reasoningOf({ messages }: RecordedReply): string {
  return messages
    .flatMap((parts) => parts.map((part) => (part.type === 'reasoning' ? part.content : '')))
    .join('');
}

/** Arguments that were no JSON were recorded as the text that they were. */
export function argumentsText(part: ToolCallPart): string {
  if (part.arguments === undefined) return '';
  return typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments);
}

/** The recording has streamed text in one piece: it is given again in pieces as models give it. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,24}/g) ?? [];
}
