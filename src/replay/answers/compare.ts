/**
 * Whether a request is the recorded one, message by message, and where it is not. The new request is cleaned and cut
 * like the recorded one was, and what the redactor put in the place of a secret may have been any text.
 */
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

/** Cleans what a replayed program sends as it was cleaned then. Made once a replay: a policy costs some milliseconds. */
export class Cleaner {
  readonly #sink = new EventSink({ policy: createPolicy({ environment: process.env }) });

  text(text: string): string {
    return this.#sink.cleanWhole(text);
  }

  content(content: object): Record<string, unknown> {
    return this.#sink.clean(content);
  }
}

/** What the redactor put in the place of a secret may have been any text. */
export function withoutMarks(text: string): string {
  return text.replace(/\[redacted:[a-z0-9-]{1,40}#[0-9a-f]{8}\]/g, '[redacted]');
}

export class Comparer {
  readonly #recording: Recording;
  readonly #cleaner: Cleaner;

  constructor(recording: Recording, cleaner: Cleaner) {
    this.#recording = recording;
    this.#cleaner = cleaner;
  }

  /** Empty when they are the same. `continued` are the messages that the server holds. */
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
      // A reference to an item that the server holds names nothing that could be compared.
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
    return withoutMarks(JSON.stringify(clean));
  }
}

/** Lines of a diff, `-` what was recorded and `+` what came, with the place where they begin to differ in view. */
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
