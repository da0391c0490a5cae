/**
 * Rebuilds what the model saw at each call from the deltas of `model.start`, and which calls form one conversation.
 * Lists are shared as long as possible: a thousand calls over one history cost one list.
 */
import type { AgentEvent, Message } from '../../../journal/layout/agent.ts';

/** A call's place in its conversation. */
export interface CallMessages {
  call: string;
  /** The call that this one continues. */
  base: string | undefined;
  /** How many of the base's messages are kept. */
  keep: number;
  /** Ids of the messages that this request added, and of the reply's. */
  added: string[];
  output: string[];
  /** Id of the system instructions that stood outside of the list. */
  system: string | undefined;
  /** Messages before `added` that no record tells of. */
  unknown: number;
  /** Messages in all, those that are not known included. */
  length: number;
}

export interface Conversations {
  messages: Map<string, Message>;
  calls: Map<string, CallMessages>;
}

export function computeConversations(events: readonly AgentEvent[]): Conversations {
  const messages = new Map<string, Message>();
  const calls = new Map<string, CallMessages>();
  for (const event of events) {
    if (event.kind === 'message') messages.set(event.message, messageOf(event));
    else if (event.kind === 'model.start') {
      // A call starts once; a second start with its id, in a damaged record, could make it its own base.
      if (!calls.has(event.call)) calls.set(event.call, begin(event, calls));
    } else if (event.kind === 'model.end') {
      const call = calls.get(event.call);
      if (call) end(call, event.output);
    }
  }
  return { messages, calls };
}

/** Ids of all known messages of a call in their order, the reply's at the end. */
export function listMessages(conversations: Conversations, call: string): string[] {
  const pieces: string[][] = [];
  let at = conversations.calls.get(call);
  let wanted = at?.length ?? 0;
  // Each step goes to an earlier call, so the walk ends.
  while (at && wanted > 0) {
    const own = [...at.added, ...at.output];
    const before = at.length - own.length;
    pieces.push(own.slice(0, Math.max(0, wanted - before)));
    wanted = Math.min(wanted, before);
    at = at.base === undefined ? undefined : conversations.calls.get(at.base);
  }
  return pieces.reverse().flat();
}

type StartEvent = Extract<AgentEvent, { kind: 'model.start' }>;

function begin(event: StartEvent, calls: Map<string, CallMessages>): CallMessages {
  const { base, keep, add = [], unknownBase } = event.conversation ?? { keep: 0 };
  const known = base === undefined ? undefined : calls.get(base);
  const kept = Math.min(Number.isSafeInteger(keep) && keep > 0 ? keep : 0, known?.length ?? Infinity);
  const added = Array.isArray(add) ? add.filter((id) => typeof id === 'string') : [];
  return {
    call: event.call,
    base: known && base,
    keep: kept,
    added,
    output: [],
    system: event.system,
    unknown: known ? known.unknown : unknownBase === undefined ? kept : kept + 1,
    length: kept + added.length,
  };
}

function end(call: CallMessages, output: unknown): void {
  if (!Array.isArray(output) || call.output.length) return;
  call.output = output.filter((id) => typeof id === 'string');
  call.length += call.output.length;
}

function messageOf({ role, parts, name }: Extract<AgentEvent, { kind: 'message' }>): Message {
  return name === undefined ? { role, parts } : { role, parts, name };
}
