/**
 * What every provider's reader makes of a request and of a reply, and the contract of such a reader. Knows nothing of
 * any wire format, of HTTP, or of where the result goes.
 */
import type { Attributes, Message, RunIds } from '../../journal/layout/agent.ts';
import type { JsonObject } from './json.ts';
import type { ReplyBuilder } from './reply.ts';

/** One message of a request, or a reference to one that the server holds. */
export type RequestItem = Message | { reference: string };

export interface ModelRequest {
  operation: 'chat' | 'generate_content' | 'text_completion' | 'embeddings';
  model?: string;
  messages: RequestItem[];
  /** Ids of the messages that come before those, which an earlier request had. */
  known?: string[];
  /** To be told the ids of all messages in the list, known and new. */
  learnIds?: (ids: string[]) => void;
  /** System instructions that stand outside the list of messages. */
  system?: Message;
  /** Tool definitions as the request has them. */
  tools?: unknown;
  stream?: boolean;
  /** The server continues after this reply (OpenAI `previous_response_id`, Anthropic `thread.previous_message_id`). */
  previousReply?: string;
  /** The server continues this conversation (OpenAI `conversation`). */
  serverConversation?: string;
  attributes: Attributes;
  ids?: RunIds;
}

/** Where a request goes. `path` has no query. `header` is absent where only the place is known. */
export interface RequestTarget {
  host: string;
  path: string;
  query: string;
  header?: (name: string) => string | undefined;
}

/** One provider's wire format. Readers never throw: what is not understood is left out. */
export interface ProviderFormat {
  /** The value of `gen_ai.provider.name`. */
  providerName(target: RequestTarget): string;
  /** Whether a request to this place may be one of this format; the body decides. */
  matches(target: RequestTarget): boolean;
  /** undefined when the body is no request of this format. */
  readRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined;
  /** A whole reply as JSON (also an error's). */
  readReply(body: unknown, reply: ReplyBuilder): void;
  /** One event of a streamed reply: its name, where the framing has names, and its JSON. */
  readEvent(name: string | undefined, data: unknown, reply: ReplyBuilder): void;
}
