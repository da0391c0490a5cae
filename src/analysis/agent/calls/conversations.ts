/**
 * Rebuilds what the model saw at each call from the deltas of `model.start`, and which calls form one conversation. A call
 * stores only what it added, so a thousand calls over one history share one list.
 */
import type { AgentEvent, Message } from '../../../journal/layout/agent.ts';

/** A call's position in its conversation. */
export interface CallMessages {
  call: string;
  /** The call that this one continues; undefined for the first. */
  base: string | undefined;
  /** How many of the messages of `base` are kept. */
  keep: number;
  /** Ids of the messages that this request added; `output`: those of the reply. */
  added: string[];
  output: string[];
  /** Id of the system instructions, if they were sent outside of the message list. */
  system: string | undefined;
  /** Number of messages before `added` that were not recorded. */
  unknown: number;
  /** Number of messages in total, including unknown ones. */
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
      // Only the first start of an id counts: a second one, in a damaged record, could make a call its own base.
      if (!calls.has(event.call)) calls.set(event.call, begin(event, calls));
    } else if (event.kind === 'model.end') {
      const call = calls.get(event.call);
      if (call) end(call, event.output);
    }
  }
  return { messages, calls };
}

/** Ids of all known messages of a call in order, with the reply at the end. */
export function listMessages(conversations: Conversations, call: string): string[] {
  const pieces: string[][] = [];
  let at = conversations.calls.get(call);
  let wanted = at?.length ?? 0;
  // Terminates, because each base is an earlier call.
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
