/**
 * What the reader of a provider's wire format produces from a request and a reply, and the interface of such a reader. Knows
 * nothing of any wire format, of HTTP, or of where the result goes.
 */
import type { Attributes, Message, RunIds } from '../../journal/layout/agent.ts';
import type { JsonObject } from './json.ts';
import type { ReplyBuilder } from './reply.ts';

/** One message of a request, or a reference to a message that the server stores. */
export type RequestItem = Message | { reference: string };

export interface ModelRequest {
  operation: 'chat' | 'generate_content' | 'text_completion' | 'embeddings';
  model?: string;
  messages: RequestItem[];
  /** Ids of the messages before those in the list, known from an earlier request. */
  known?: string[];
  /** Receives the ids of all messages in the list, known and new. */
  learnIds?: (ids: string[]) => void;
  /** System instructions that are not part of the message list. */
  system?: Message;
  /** Tool definitions as in the request. */
  tools?: unknown;
  stream?: boolean;
  /** The server continues after this reply (OpenAI `previous_response_id`, Anthropic `thread.previous_message_id`). */
  previousReply?: string;
  /** The server continues this conversation (OpenAI `conversation`). */
  serverConversation?: string;
  attributes: Attributes;
  ids?: RunIds;
  /** The format of the reply, if only the body showed it. */
  format?: ProviderFormat;
}

/** The destination of a request. `path` has no query. `header` is absent if only the address is known. */
export interface RequestTarget {
  host: string;
  path: string;
  query: string;
  header?: (name: string) => string | undefined;
}

/** The keys that lead to a piece of text in an event. */
export type TextPath = readonly (string | number)[];

/** The wire format of one provider. Readers never throw: what they don't understand is left out. */
export interface ProviderFormat {
  /** The value of `gen_ai.provider.name`. */
  providerName(target: RequestTarget): string;
  /** Whether a request to this address may be of this format; the body decides. */
  matches(target: RequestTarget): boolean;
  /** Undefined if the body is not a request of this format. */
  readRequest(body: JsonObject, target: RequestTarget): ModelRequest | undefined;
  /** Reads a complete JSON reply, including an error reply. */
  readReply(body: unknown, reply: ReplyBuilder): void;
  /** Reads one event of a streamed reply: its name, if the framing has names, and its JSON. */
  readEvent(name: string | undefined, data: unknown, reply: ReplyBuilder): void;
  /**
   * The place of the text in an event that has one. `readEvent` must not keep objects of such an event, because the next one may be
   * read into the same objects.
   */
  textAt?: TextPath;
}
