/**
 * Collects a model's reply, whole or piece by piece, into messages, and tracks what was added since the last look, for the
 * deltas in the journal. Bounded: text over the limit is counted but not kept. Knows no provider.
 */
import type { DeltaTool, EventError, Message, MessagePart } from '../../journal/layout/agent.ts';
import { compact, parseArguments } from './json.ts';

type PartKey = string | number;

interface OpenPart {
  type: 'text' | 'reasoning' | 'refusal' | 'tool_call' | 'whole';
  text: string;
  id?: string | undefined;
  name?: string | undefined;
  /** For `whole`: the part itself. For a tool call: arguments that arrived as one value. */
  value?: unknown;
  /** The 0-based number of the tool call in the reply. */
  toolIndex: number;
}

interface OpenMessage {
  role: string;
  /** The provider's id of this item. A later request may refer to it. */
  id?: string | undefined;
  parts: Map<PartKey, OpenPart>;
}

/** Token counts as reported by the provider. Whether `input` includes cached tokens differs between providers. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheCreation?: number;
  reasoning?: number;
}

/** What was added since the last `takeDelta`. */
export interface ReplyDelta {
  text?: string;
  reasoning?: string;
  tools?: DeltaTool[];
}

const textLimitChars = 16 * 1024 * 1024;

export class ReplyBuilder {
  id: string | undefined;
  model: string | undefined;
  readonly finishReasons: string[] = [];
  readonly usage: TokenCounts = {};
  error: EventError | undefined;
  /** Set when the provider reported that the reply is complete. */
  done = false;
  #messages = new Map<PartKey, OpenMessage>();
  #chars = 0;
  #toolCount = 0;
  #newText = '';
  #newReasoning = '';
  #newTools = new Map<number, DeltaTool>();

  /** Declares the role of the message with this key; `id` is the provider's id of it. */
  message(key: PartKey, role: string, id?: string): void {
    const open = this.#message(key);
    open.role = role;
    if (id !== undefined) open.id = id;
  }

  text(message: PartKey, part: PartKey, added: string | undefined): void {
    if (!added) return;
    this.#append(this.#part(message, part, 'text'), added);
    this.#newText += added;
  }

  refusal(message: PartKey, part: PartKey, added: string | undefined): void {
    if (!added) return;
    this.#append(this.#part(message, part, 'refusal'), added);
    this.#newText += added;
  }

  reasoning(message: PartKey, part: PartKey, added: string | undefined): void {
    if (!added) return;
    this.#append(this.#part(message, part, 'reasoning'), added);
    this.#newReasoning += added;
  }

  /** Adds a tool call or continues one. `addedArguments` is a fragment of JSON text, `value` all arguments at once. */
  toolCall(
    message: PartKey,
    part: PartKey,
    call: {
      id?: string | undefined;
      name?: string | undefined;
      addedArguments?: string | undefined;
      value?: unknown;
    },
  ): void {
    const open = this.#part(message, part, 'tool_call');
    const delta = this.#toolDelta(open);
    if (call.id) open.id = delta.id = call.id;
    if (call.name) open.name = delta.name = call.name;
    if (call.addedArguments) {
      this.#append(open, call.addedArguments);
      delta.arguments = (delta.arguments ?? '') + call.addedArguments;
    }
    if (call.value !== undefined) open.value = call.value;
  }

  /** Adds a part that arrives as a whole. */
  whole(message: PartKey, part: PartKey, value: MessagePart): void {
    this.#part(message, part, 'whole').value = value;
  }

  finish(reason: string | undefined): void {
    if (reason && !this.finishReasons.includes(reason)) this.finishReasons.push(reason);
  }

  count(counts: { [K in keyof TokenCounts]: TokenCounts[K] | undefined }): void {
    for (const [name, value] of Object.entries(counts))
      if (value !== undefined) this.usage[name as keyof TokenCounts] = value;
  }

  /**
   * Discards the messages collected so far, because a complete copy follows. Deltas of streamed text have already been
   * reported.
   */
  restart(): void {
    this.#messages = new Map();
    this.#chars = 0;
    this.#toolCount = 0;
  }

  /** The number of parts of a message so far, to be used as the key of the next one. */
  partCount(message: PartKey): number {
    return this.#messages.get(message)?.parts.size ?? 0;
  }

  /** The messages as far as they have arrived, with the provider's ids. Messages without parts are left out. */
  messages(): { message: Message; id: string | undefined }[] {
    return [...this.#messages.values()]
      .filter((open) => open.parts.size)
      .map((open) => ({
        message: { role: open.role, parts: [...open.parts.values()].map(closePart) },
        id: open.id,
      }));
  }

  takeDelta(): ReplyDelta | undefined {
    if (!this.#newText && !this.#newReasoning && !this.#newTools.size) return undefined;
    const delta: ReplyDelta = {};
    if (this.#newText) delta.text = this.#newText;
    if (this.#newReasoning) delta.reasoning = this.#newReasoning;
    if (this.#newTools.size) delta.tools = [...this.#newTools.values()];
    this.#newText = this.#newReasoning = '';
    this.#newTools = new Map();
    return delta;
  }

  #message(key: PartKey): OpenMessage {
    let open = this.#messages.get(key);
    if (!open) {
      open = { role: 'assistant', parts: new Map() };
      this.#messages.set(key, open);
    }
    return open;
  }

  #part(message: PartKey, key: PartKey, type: OpenPart['type']): OpenPart {
    const { parts } = this.#message(message);
    // One position may carry first text and then reasoning; they stay two parts.
    const typedKey = `${type}:${key}`;
    let open = parts.get(typedKey);
    if (!open) {
      open = { type, text: '', toolIndex: type === 'tool_call' ? this.#toolCount++ : -1 };
      parts.set(typedKey, open);
    }
    return open;
  }

  #append(part: OpenPart, added: string): void {
    this.#chars += added.length;
    if (this.#chars <= textLimitChars) part.text += added;
  }

  #toolDelta(part: OpenPart): DeltaTool {
    let delta = this.#newTools.get(part.toolIndex);
    if (!delta) {
      delta = { index: part.toolIndex };
      this.#newTools.set(part.toolIndex, delta);
    }
    return delta;
  }
}

function closePart(part: OpenPart): MessagePart {
  switch (part.type) {
    case 'tool_call':
      return compact({
        type: 'tool_call',
        id: part.id,
        name: part.name ?? '',
        arguments: part.value ?? parseArguments(part.text),
      }) as MessagePart;
    case 'whole':
      return part.value as MessagePart;
    default:
      return { type: part.type, content: part.text };
  }
}
