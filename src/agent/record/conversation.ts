/**
 * The conversations of this process. Every message is recorded once and recognized by its hash, and each call describes its
 * list as "the first n of an earlier call's list, then these". Requests that continue a thread stored by the server are
 * linked to the reply that they name. Branches are supported, because a call may continue any earlier one. Bounded: the
 * oldest calls and message hashes are evicted first, after which a message may be recorded again.
 */
import type { ConversationDelta, Message } from '../../journal/layout/agent.ts';
import type { ModelRequest, RequestItem } from '../calls/model-call.ts';
import { hashOf } from '../node-modules.ts';
import { BoundedMap } from './bounded-map.ts';

const callLimit = 256;
const messageLimit = 50_000;
const replyIdLimit = 4096;
/** Shorter contents are used as the key themselves; a hash has this many characters. */
const shortKeyChars = 40;
/** A new request is compared with this many of the latest calls. */
const comparedCalls = 32;

/** Records a message or tool definitions that were not seen before. Returns the new id. */
export interface ContentRecorder {
  message(message: Message): string;
  tools(definitions: unknown): string;
}

export class Conversation {
  readonly #recorder: ContentRecorder;
  /** Ids by content. */
  readonly #known = new BoundedMap<string>(messageLimit);
  /** The list of a call: its input and, after its end, the reply. */
  readonly #lists = new BoundedMap<string[]>(callLimit);
  /** By the id of a reply, or of a conversation stored by the server: the call that it belongs to. */
  readonly #byReply = new BoundedMap<string>(replyIdLimit);
  /** By the provider's item ids: the ids of their messages. */
  readonly #byItem = new BoundedMap<string>(messageLimit);

  #latestTools: { definitions: unknown; id: string } | undefined;

  constructor(recorder: ContentRecorder) {
    this.#recorder = recorder;
  }

  /** The list of a call that starts now, as a delta. */
  begin(call: string, request: ModelRequest): ConversationDelta {
    const named = request.previousReply ?? request.serverConversation;
    const delta =
      named === undefined
        ? this.#continued(this.#listed(request))
        : this.#serverHeld(named, request.messages);
    this.#lists.set(call, this.#listOf(delta));
    if (request.serverConversation !== undefined) this.#byReply.set(request.serverConversation, call);
    return delta;
  }

  /** Adds the reply to the call's list; returns the ids of its messages. */
  end(
    call: string,
    replyId: string | undefined,
    reply: { message: Message; id: string | undefined }[],
  ): string[] {
    const ids = reply.map(({ message, id }) => {
      const known = this.messageId(message);
      if (id !== undefined) this.#byItem.set(id, known);
      return known;
    });
    this.#lists.get(call)?.push(...ids);
    if (replyId !== undefined) this.#byReply.set(replyId, call);
    return ids;
  }

  /** The id of a message, which is recorded if it is new. */
  messageId(message: Message): string {
    return this.#once(message, () => this.#recorder.message(message));
  }

  toolsId(definitions: unknown): string {
    // Most calls of a program use the identical tools.
    if (this.#latestTools && this.#latestTools.definitions === definitions) return this.#latestTools.id;
    const id = this.#once({ definitions }, () => this.#recorder.tools(definitions));
    this.#latestTools = { definitions, id };
    return id;
  }

  #once(content: object, record: () => string): string {
    const key = keyOf(content);
    let id = this.#known.get(key);
    if (id === undefined) {
      id = record();
      this.#known.set(key, id);
    }
    return id;
  }

  /** The ids of a whole list, which are also passed to `learnIds`, because the next request may need them. */
  #listed({ known, messages, learnIds }: ModelRequest): string[] {
    const added = this.#idsOf(messages);
    const ids = known ? [...known, ...added] : added;
    if (added.length === messages.length) learnIds?.(ids);
    return ids;
  }

  #idsOf(items: RequestItem[]): string[] {
    return items
      .map((item) => ('reference' in item ? this.#byItem.get(item.reference) : this.messageId(item)))
      .filter((id) => id !== undefined);
  }

  #serverHeld(name: string, items: RequestItem[]): ConversationDelta {
    const base = this.#byReply.get(name);
    const list = base === undefined ? undefined : this.#lists.get(base);
    if (base === undefined || !list) return { keep: 0, add: this.#idsOf(items), unknownBase: name };
    // A reference to an item adds nothing, because the thread contains the item.
    return { base, keep: list.length, add: this.#idsOf(items.filter((item) => !('reference' in item))) };
  }

  /** Continues the call whose list shares the longest prefix with this one, the latest of equals. */
  #continued(items: string[]): ConversationDelta {
    let base: string | undefined;
    let keep = 0;
    for (const [call, list] of this.#lists.latest(comparedCalls)) {
      const shared = sharedLength(list, items);
      if (shared > keep) [base, keep] = [call, shared];
      if (keep === list.length && keep > 0) break;
    }
    return base === undefined ? { keep: 0, add: items } : { base, keep, add: items.slice(keep) };
  }

  #listOf({ base, keep, add }: ConversationDelta): string[] {
    const list = base === undefined ? [] : (this.#lists.get(base) ?? []).slice(0, keep);
    list.push(...add);
    return list;
  }
}

/**
 * Equal for equal contents: the content itself if it is short, otherwise its hash. Converted to JSON, because V8 keeps a
 * concatenated string as a node that references both halves, 32 bytes in addition to the text for as long as the key lives.
 */
function keyOf(content: object): string {
  const { role, parts, name } = content as Partial<Message>;
  const only = parts?.length === 1 && name === undefined ? parts[0] : undefined;
  // Most messages are a single text, which needs no conversion to JSON.
  const text = only?.type === 'text' ? `${role}\0${only.content}` : JSON.stringify(content);
  return text.length <= shortKeyChars ? JSON.stringify(text) : hashOf('sha1', text);
}

function sharedLength(a: string[], b: string[]): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared++;
  return shared;
}
