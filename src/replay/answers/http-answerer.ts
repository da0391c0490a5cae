/**
 * Matches a request that is not a model call to a recorded one, by method, address and body, the earliest first. Each
 * recorded request is answered once.
 */

import type { RequestTarget } from '../../agent/calls/model-call.ts';
import { BodyReader } from '../../agent/http/http-body.ts';
import type { HttpBody } from '../../journal/layout/agent.ts';
import type { HttpAnswer, RecordedHttp } from '../recorded/recorded-http.ts';
import { type Cleaner, type Difference, type MaskText, withoutMarks } from './compare.ts';

export interface AskedNow {
  method: string;
  target: RequestTarget & { port: number | undefined };
  body: Uint8Array;
  /** The value of the `content-encoding` header. */
  encoding: string | undefined;
}

export type HttpOutcome =
  | { kind: 'http'; call: RecordedHttp; answer: HttpAnswer; differences: Difference[] }
  | { kind: 'differs'; call: RecordedHttp; differences: Difference[] }
  | { kind: 'past' }
  | { kind: 'refused'; reason: string };

export class HttpAnswerer {
  readonly #open: RecordedHttp[];
  readonly #recorded: number;
  readonly #cleaner: Cleaner;
  readonly #isLenient: boolean;
  /** Hides the user's masks and the redactor's placeholders. */
  readonly #comparable: MaskText;

  /** `isLenient`: a request that differs receives the answer of the most similar one. */
  constructor(recorded: readonly RecordedHttp[], cleaner: Cleaner, isLenient: boolean, mask: MaskText) {
    this.#open = [...recorded];
    this.#recorded = recorded.length;
    this.#cleaner = cleaner;
    this.#isLenient = isLenient;
    this.#comparable = (text) => withoutMarks(mask(text));
  }

  get recorded(): number {
    return this.#recorded;
  }

  get answered(): number {
    return this.#recorded - this.#open.length;
  }

  answer(asked: AskedNow): HttpOutcome {
    const now = this.#read(asked);
    const found = this.#find(now);
    if (!found) return { kind: 'past' };
    const { call, differences } = found;
    if (differences.length > 0 && !this.#isLenient) return { kind: 'differs', call, differences };
    this.#open.splice(this.#open.indexOf(call), 1);
    if ('refused' in call.answer)
      return { kind: 'refused', reason: `request ${call.id} can't be answered: ${call.answer.refused}` };
    return { kind: 'http', call, answer: call.answer, differences };
  }

  #read({ method, target, body, encoding }: AskedNow): Asked {
    const { host, port, path, query } = target;
    const reader = new BodyReader(encoding);
    reader.push(body);
    reader.end();
    return {
      method,
      host: port === undefined ? host : `${host}:${port}`,
      path: this.#cleaner.text(query ? `${path}?${query}` : path),
      body: reader.read((text) => this.#cleaner.text(text)),
    };
  }

  /** The earliest request that is equal; otherwise the earliest of the most similar ones. */
  #find(now: Asked): { call: RecordedHttp; differences: Difference[] } | undefined {
    let best: RecordedHttp | undefined;
    let bestLikeness = -1;
    for (const call of this.#open) {
      const likeness = this.#likenessOf(call, now);
      if (likeness === 3 && this.#compare(call, now).length === 0) return { call, differences: [] };
      if (likeness > bestLikeness) [best, bestLikeness] = [call, likeness];
    }
    return best && { call: best, differences: this.#compare(best, now) };
  }

  #likenessOf(call: RecordedHttp, now: Asked): number {
    if (call.method !== now.method || call.host !== now.host) return call.host === now.host ? 1 : 0;
    return this.#comparable(call.path) === this.#comparable(now.path) ? 3 : 2;
  }

  #compare(call: RecordedHttp, now: Asked): Difference[] {
    const pairs: [string, string, string][] = [
      ['method', call.method, now.method],
      ['url', call.host + this.#comparable(call.path), now.host + this.#comparable(now.path)],
      ['body', this.#describe(call.body), this.#describe(now.body)],
    ];
    return pairs.flatMap(([where, recorded, came]) =>
      recorded === came ? [] : { where: `${call.id} ${where}`, recorded, now: came },
    );
  }

  /** For a body that was not kept whole, size and hash represent the rest, and no mask can apply to it. */
  #describe(body: HttpBody | undefined): string {
    if (!body) return '';
    const { text = '', bytes, sha256, gap } = body;
    return this.#comparable(text) + (gap ? `(${bytes} bytes, ${gap}, sha256 ${sha256})` : '');
  }
}

interface Asked {
  method: string;
  host: string;
  path: string;
  body: HttpBody | undefined;
}
