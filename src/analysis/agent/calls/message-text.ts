/** Messages for the account: plain text if all parts are text, otherwise the parts. */
import type { Message } from '../../../journal/layout/agent.ts';
import type { AgentMessage } from '../../../model/agent-state.ts';
import type { Conversations } from './conversations.ts';

export function messagesAsRead(conversations: Conversations, ids: readonly string[]): AgentMessage[] {
  return ids.map((id) => {
    const message = conversations.messages.get(id);
    return message ? readMessage(id, message) : { role: 'unknown', content: '[not recorded]', id };
  });
}

export function readMessage(id: string, message: Message): AgentMessage {
  return { role: message.role, content: contentOf(message), id };
}

function contentOf({ parts }: Message): unknown {
  const isText = parts.every((part) => part?.type === 'text');
  return isText ? parts.map((part) => (part.type === 'text' ? part.content : '')).join('') : parts;
}
