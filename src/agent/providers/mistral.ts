/**
 * Mistral's chat, agents and fill-in-the-middle completions: OpenAI's chat format, with content that may be a list that
 * contains thinking. Source: Mistral API reference, "Chat".
 */
import type { ProviderFormat } from '../calls/model-call.ts';
import { chatTextAt, readChatEvent, readChatReply, readChatRequest } from './openai-chat.ts';

export const mistral: ProviderFormat = {
  providerName: () => 'mistral_ai',
  matches: ({ host, path }) => /(^|\.)mistral\.ai$/.test(host) && path.endsWith('/completions'),
  readRequest(body) {
    const { prompt, suffix } = body;
    if (typeof prompt !== 'string') return readChatRequest(body);
    const content = typeof suffix === 'string' ? `${prompt}[…]${suffix}` : prompt;
    return readChatRequest({ ...body, messages: [{ role: 'user', content }] });
  },
  readReply: readChatReply,
  readEvent: readChatEvent,
  textAt: chatTextAt,
};
