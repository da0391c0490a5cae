/**
 * Encodes a recorded reply for Amazon Bedrock: Converse and ConverseStream, and InvokeModel with Anthropic's body; streams as
 * AWS event streams. Except for Anthropic's, its replies have no id. Sources: Bedrock API reference, "Converse",
 * "ConverseStream", "InvokeModelWithResponseStream"; Smithy, "Amazon Event Stream Specification".
 */
import { crc32 } from 'node:zlib';
import type { MessagePart } from '../../journal/layout/agent.ts';
import { anthropicReply } from './anthropic.ts';
import { argumentsText, pieces, type RecordedReply, type ReplyFormat, type ServerEvent } from './reply.ts';

const stream = { type: 'application/vnd.amazon.eventstream', encode: encodeFrame };

export const converseReply: ReplyFormat = {
  stream,
  whole: (reply) => ({
    output: { message: { role: 'assistant', content: reply.messages.flat().map(blockOf) } },
    stopReason: stopReasonOf(reply),
    ...metadataOf(reply),
  }),
  events: (reply) => ({
    events: [
      { name: 'messageStart', data: { role: 'assistant' } },
      ...reply.messages.flat().flatMap((part, at) => blockEvents(part, at)),
    ],
    closing: [
      { name: 'messageStop', data: { stopReason: stopReasonOf(reply) } },
      { name: 'metadata', data: metadataOf(reply) },
    ],
  }),
  error: errorOf,
};

/** Anthropic's events, each as base64 text within a frame. */
export const invokeReply: ReplyFormat = {
  stream,
  whole: (reply) => anthropicReply.whole(reply),
  events(reply) {
    const { events, closing } = anthropicReply.events(reply);
    return { events: events.map(wrap), closing: closing.map(wrap) };
  },
  error: errorOf,
};

function wrap({ data }: ServerEvent): ServerEvent {
  return { name: 'chunk', data: { bytes: Buffer.from(JSON.stringify(data)).toString('base64') } };
}

function blockOf(part: MessagePart): object {
  if (part.type === 'tool_call')
    return { toolUse: { toolUseId: part.id ?? '', name: part.name, input: part.arguments ?? {} } };
  if (part.type === 'reasoning') return { reasoningContent: { reasoningText: { text: part.content } } };
  return { text: part.type === 'text' ? part.content : '' };
}

function blockEvents(part: MessagePart, contentBlockIndex: number): ServerEvent[] {
  const deltas = deltasOf(part).map((delta) => ({
    name: 'contentBlockDelta',
    data: { contentBlockIndex, delta },
  }));
  const stop = { name: 'contentBlockStop', data: { contentBlockIndex } };
  if (part.type !== 'tool_call') return [...deltas, stop];
  const start = { toolUse: { toolUseId: part.id ?? '', name: part.name } };
  return [{ name: 'contentBlockStart', data: { contentBlockIndex, start } }, ...deltas, stop];
}

function deltasOf(part: MessagePart): object[] {
  if (part.type === 'tool_call') return pieces(argumentsText(part)).map((input) => ({ toolUse: { input } }));
  if (part.type === 'reasoning') return pieces(part.content).map((text) => ({ reasoningContent: { text } }));
  return part.type === 'text' ? pieces(part.content).map((text) => ({ text })) : [];
}

function stopReasonOf({ finishReason, messages }: RecordedReply): string {
  return finishReason ?? (messages.flat().some(({ type }) => type === 'tool_call') ? 'tool_use' : 'end_turn');
}

function metadataOf({ usage: { input, output } }: RecordedReply): object {
  return {
    usage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
    metrics: { latencyMs: 0 },
  };
}

function errorOf({ error }: RecordedReply): object {
  return { ...(error?.type !== undefined && { __type: error.type }), message: error?.message ?? '' };
}

/** Total length, length of the headers, CRC-32 of those two; headers; payload; CRC-32 of everything before it. */
function encodeFrame({ name = '', data }: ServerEvent): Uint8Array {
  const headers = Buffer.concat([
    headerOf(':event-type', name),
    headerOf(':content-type', 'application/json'),
    headerOf(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify(data));
  const frame = Buffer.alloc(16 + headers.length + payload.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  frame.set(headers, 12);
  frame.set(payload, 12 + headers.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - 4)), frame.length - 4);
  return frame;
}

const textHeader = 7;
function headerOf(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([textHeader]),
    length,
    Buffer.from(value),
  ]);
}
