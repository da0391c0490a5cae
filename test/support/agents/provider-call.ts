/** Runs a provider's reader on a request or a reply, as the exchange does. */
import type { ProviderFormat, RequestTarget } from '../../../src/agent/calls/model-call.ts';
import { ReplyBuilder } from '../../../src/agent/calls/reply.ts';

export function target(host: string, path: string, query = ''): RequestTarget {
  return { host, path, query };
}

export function readWhole(format: ProviderFormat, body: unknown): ReplyBuilder {
  const reply = new ReplyBuilder();
  format.readReply(body, reply);
  return reply;
}

export function readEvents(
  format: ProviderFormat,
  events: [name: string | undefined, data: unknown][],
): ReplyBuilder {
  const reply = new ReplyBuilder();
  for (const [name, data] of events) format.readEvent(name, data, reply);
  return reply;
}

/** The messages without their metadata. */
export function messagesOf(reply: ReplyBuilder) {
  return reply.messages().map(({ message }) => message);
}

/** Values on which no reader may throw. */
export const hostileBodies: unknown[] = [
  undefined,
  null,
  0,
  'text',
  [],
  {},
  { messages: null },
  { messages: [null, 1, 'x', [], {}] },
  {
    messages: [
      { role: 1, content: { a: 1 } },
      { role: 'user', content: [null, 1, {}, { type: 7 }] },
    ],
  },
  { model: 1, input: [null, { type: 'function_call' }, { type: 'message', content: 7 }, { role: 'user' }] },
  { contents: [{}, { parts: [{}, { text: 1 }, null] }], systemInstruction: { parts: 1 } },
  {
    choices: [{}, null, { message: null, delta: null }],
    usage: 'x',
    candidates: [{ content: { parts: 1 } }],
  },
  { error: null, output: [{}, null, { type: 'message' }], content: [{}, null, { type: 'tool_result' }] },
  { type: 'content_block_delta', index: 'x', delta: null, content_block: null, message: 3, response: [] },
];
