/**
 * A recorded reply, independent of the wire format, and the interface of the formats that encode it. Knows nothing of
 * sockets.
 */
import type { EventError, MessagePart } from '../../journal/layout/agent.ts';

export interface RecordedReply {
  id: string;
  model: string;
  /** The parts of each message of the reply. */
  messages: MessagePart[][];
  finishReason: string | undefined;
  usage: { input: number; output: number };
  /** HTTP status; 400 or above is an error. */
  status: number;
  error: EventError | undefined;
  headers: Record<string, string>;
  /** `cut`: the connection ended before the reply did. `open`: the reply was incomplete when the program died. */
  end: 'whole' | 'cut' | 'open';
}

export interface ServerEvent {
  name?: string;
  data: unknown;
}

export interface ReplyFormat {
  /** How a stream is encoded. Default: server-sent events. */
  stream?: { type: string; encode(event: ServerEvent): string | Uint8Array };
  /** The reply, or the recorded part of it, as one JSON document. */
  whole(reply: RecordedReply): unknown;
  /**
   * The same as a stream. `closing` are the final events that mark it as complete; they are left out of a reply that was cut.
   */
  events(reply: RecordedReply): { events: ServerEvent[]; closing: ServerEvent[] };
  error(reply: RecordedReply): unknown;
}

export type ToolCallPart = Extract<MessagePart, { type: 'tool_call' }>;

export const isToolCall = (part: MessagePart): part is ToolCallPart => part.type === 'tool_call';

/** The tool calls of all messages. */
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

/** Arguments that were not valid JSON were recorded as plain text. */
export function argumentsText(part: ToolCallPart): string {
  if (part.arguments === undefined) return '';
  return typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments);
}

/** Streamed text is recorded in one piece. It is split again, like models do. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,24}/g) ?? [];
}
