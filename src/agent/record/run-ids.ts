/**
 * The ids of thread, session, conversation and user that frameworks, spans and requests carry. They are recorded unchanged.
 * AGENTDUMP_DENY=user_id replaces one by a tag, which is equal for equal ids.
 */
import type { RunIds } from '../../journal/layout/agent.ts';
import { compact, isObject, type JsonObject } from '../calls/json.ts';

const names: Record<string, readonly string[]> = {
  thread_id: ['thread_id', 'threadId'],
  session_id: ['session_id', 'sessionId', 'session.id'],
  conversation_id: [
    'conversation_id',
    'conversationId',
    'gen_ai.conversation.id',
    'conversation',
    'group_id',
    'groupId',
  ],
  user_id: ['user_id', 'userId', 'user.id', 'enduser.id', 'user', 'safety_identifier'],
};
const longest = 200;

/** Each id is taken from the first object that has it. Undefined if none has any. Never throws. */
export function readIds(...objects: unknown[]): RunIds | undefined {
  const ids: RunIds = {};
  for (const [name, spellings] of Object.entries(names)) {
    const id = findId(objects, spellings);
    if (id !== undefined) ids[name] = id;
  }
  return Object.keys(ids).length ? ids : undefined;
}

/** The ids of a request to a model: OpenAI's `user`, `conversation` and `metadata`, Anthropic's `metadata`. */
export function readRequestIds(body: JsonObject): RunIds | undefined {
  const { user, safety_identifier, conversation, metadata } = body;
  const known = isObject(conversation) ? conversation['id'] : conversation;
  return readIds(metadata, compact({ user, safety_identifier, conversation: known }));
}

function findId(objects: unknown[], spellings: readonly string[]): string | undefined {
  for (const one of objects)
    for (const spelling of spellings) {
      const id = isObject(one) ? read(one, spelling) : undefined;
      if (id !== undefined) return id;
    }
  return undefined;
}

function read(from: JsonObject, name: string): string | undefined {
  try {
    const value = from[name];
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined;
  } catch {
    return undefined;
  }
}
