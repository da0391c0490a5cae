/**
 * Matches a request to a recorded call and selects its reply; `http-answerer.ts` does the same for requests that are not
 * model calls. Each call is answered once. If several calls match, the earliest is taken, so that concurrent calls may arrive
 * in a different order.
 */
import { readModelRequest } from '../../agent/providers/recognize.ts';
import { findFormat } from '../../agent/providers/table.ts';
import type { RecordedCall, Recording } from '../recorded/recording.ts';
import type { RecordedReply, ReplyFormat } from '../replies/reply.ts';
import { findReplyFormat } from '../replies/table.ts';
import { Cleaner, Comparer, type Difference, type MaskText } from './compare.ts';
import { type AskedNow, HttpAnswerer, type HttpOutcome } from './http-answerer.ts';

export type Answer =
  | {
      kind: 'reply';
      call: RecordedCall;
      reply: RecordedReply;
      format: ReplyFormat;
      isStream: boolean;
      differences: Difference[];
    }
  /** The recording has an answer, but to a different request. */
  | { kind: 'differs'; call: { id: string }; differences: Difference[] }
  /** All recorded calls were answered, and the program makes another one. */
  | { kind: 'past' }
  | { kind: 'refused'; reason: string }
  | Extract<HttpOutcome, { kind: 'http' }>;

/** An answer that can be sent. */
export type Given = Extract<Answer, { kind: 'reply' | 'http' }>;

export class Answerer {
  readonly #recording: Recording;
  readonly #comparer: Comparer;
  readonly #open: RecordedCall[];
  readonly #isLenient: boolean;
  /** For requests that are not model calls. */
  readonly http: HttpAnswerer;

  /** `isLenient`: a request that differs receives the next recorded reply anyway. `mask`: hides what is not compared. */
  constructor(recording: Recording, isLenient: boolean, mask: MaskText = (text) => text) {
    this.#recording = recording;
    const cleaner = new Cleaner();
    this.#comparer = new Comparer(recording, cleaner, mask);
    this.http = new HttpAnswerer(recording.http, cleaner, isLenient, mask);
    this.#open = [...recording.calls];
    this.#isLenient = isLenient;
  }

  get answered(): number {
    return this.#recording.calls.length - this.#open.length;
  }

  answer(asked: AskedNow): Answer {
    const { method, target, body } = asked;
    const format = method === 'POST' ? findFormat(target) : undefined;
    const request = format && readModelRequest(format, parse(Buffer.from(body).toString('utf8')), target);
    if (!format || !request) return this.#answerOther(asked);
    const replyFormat = findReplyFormat(request.format ?? format, target);
    if (!replyFormat)
      return { kind: 'refused', reason: `replies of ${format.providerName(target)} can't be made yet` };
    if (this.#open.length === 0) return { kind: 'past' };
    const continued = this.#heldBy(request.previousReply);
    const compared = this.#open.map((call) => ({
      call,
      differences: this.#comparer.compare(call, request, continued),
    }));
    const { call, differences } = compared.find((each) => each.differences.length === 0) ?? compared[0]!;
    if (differences.length > 0 && !this.#isLenient) return { kind: 'differs', call, differences };
    this.#open.splice(this.#open.indexOf(call), 1);
    if ('refused' in call.reply)
      return { kind: 'refused', reason: `call ${call.id} can't be answered: ${call.reply.refused}` };
    return {
      kind: 'reply',
      call,
      reply: call.reply,
      format: replyFormat,
      isStream: request.stream === true,
      differences,
    };
  }

  #answerOther(asked: AskedNow): Answer {
    const { method, target } = asked;
    const what = `${method} ${target.path} is no call of a model, and`;
    if (this.http.recorded === 0)
      return { kind: 'refused', reason: `${what} only those are recorded with their content` };
    const outcome = this.http.answer(asked);
    if (outcome.kind === 'past' && this.#open.length > 0)
      return { kind: 'refused', reason: `${what} all ${this.http.recorded} others are answered` };
    return outcome;
  }

  /** The messages up to and including the reply that the request continues. */
  #heldBy(replyId: string | undefined): string[] {
    if (replyId === undefined) return [];
    const { calls } = this.#recording;
    const at = calls.findIndex(({ reply }) => 'id' in reply && reply.id === replyId);
    const call = calls[at];
    if (!call || !('id' in call.reply)) return [replyId];
    // The next call in the same thread lists the messages of this call's reply.
    const next = calls.slice(at + 1).find(({ list }) => call.list.every((id, index) => list[index] === id));
    const output = call.reply.messages.length;
    return next ? next.list.slice(0, call.list.length + output) : call.list;
  }
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
