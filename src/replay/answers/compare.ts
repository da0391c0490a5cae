/**
 * Compares a request with the recorded one, message by message. The new request is redacted and cut in the same way as the
 * recorded one. A placeholder left by the redactor matches any text.
 */
import { maskValue } from '../../agent/calls/masks.ts';
import type { ModelRequest, RequestItem } from '../../agent/calls/model-call.ts';
import { EventSink } from '../../agent/record/sink.ts';
import type { Message } from '../../journal/layout/agent.ts';
import { createPolicy } from '../../redaction/policy.ts';
import type { RecordedCall, Recording } from '../recorded/recording.ts';

export interface Difference {
  /** `messages[2]`, `model`, … */
  where: string;
  recorded: string;
  now: string;
}

/**
 * Redacts what a replayed program sends in the same way as during the recording. Created once per replay, because a policy
 * costs some milliseconds.
 */
export class Cleaner {
  readonly #sink = new EventSink({ policy: createPolicy({ environment: process.env }) });

  text(text: string): string {
    return this.#sink.cleanWhole(text);
  }

  content(content: object): Record<string, unknown> {
    return this.#sink.clean(content);
  }
}

/** Applies the user's masks to a text that is compared. */
export type MaskText = (text: string) => string;

/** A placeholder left by the redactor may have been any text. */
export function withoutMarks(text: string): string {
  return text.replace(/\[redacted:[a-z0-9-]{1,40}#[0-9a-f]{8}\]/g, '[redacted]');
}

export class Comparer {
  readonly #recording: Recording;
  readonly #cleaner: Cleaner;
  readonly #mask: MaskText;

  constructor(recording: Recording, cleaner: Cleaner, mask: MaskText) {
    this.#recording = recording;
    this.#cleaner = cleaner;
    this.#mask = mask;
  }

  /** Empty if they are equal. `continued` are the messages that the server stores. */
  compare(call: RecordedCall, request: ModelRequest, continued: readonly string[]): Difference[] {
    const { messages } = this.#recording;
    const differences: Difference[] = [];
    const add = (where: string, recorded: string, now: string) => {
      if (recorded !== now) differences.push({ where, recorded, now });
    };
    if (call.model) add('model', call.model, request.model ?? '');
    add('system', this.#text(call.system ? messages[call.system] : undefined), this.#text(request.system));
    if (call.unknown > 0) return differences;
    const now = [...continued.map((id) => messages[id] ?? { reference: id }), ...request.messages];
    for (let at = 0; at < Math.max(now.length, call.list.length); at++) {
      const id = call.list[at];
      const item = now[at];
      // A reference to an item stored by the server has no content that could be compared.
      if (item && id !== undefined && 'reference' in item) continue;
      add(`messages[${at}]`, this.#text(id === undefined ? undefined : messages[id]), this.#text(item));
    }
    return differences;
  }

  #text(item: RequestItem | undefined): string {
    if (!item) return '';
    if ('reference' in item) return `(reference to ${item.reference})`;
    const { role, parts, name } = item as Message;
    const clean = this.#cleaner.content(name === undefined ? { role, parts } : { role, parts, name });
    // Masked before JSON escapes anything, so that a pattern applies to the text as the program wrote it.
    return withoutMarks(JSON.stringify(maskValue(clean, this.#mask)));
  }
}

/**
 * Lines of a diff, `-` for the recorded text and `+` for the new one, each excerpt including the place where they begin to
 * differ.
 */
export function renderDifferences(differences: readonly Difference[], width = 160): string {
  return differences
    .map(({ where, recorded, now }) => {
      let same = 0;
      while (same < recorded.length && recorded[same] === now[same]) same++;
      const from = Math.max(0, same - Math.floor(width / 3));
      const cut = (text: string) =>
        text === ''
          ? '(nothing)'
          : `${from > 0 ? '…' : ''}${text.slice(from, from + width)}${text.length > from + width ? '…' : ''}`;
      return `  ${where}\n  - ${cut(recorded)}\n  + ${cut(now)}`;
    })
    .join('\n');
}
