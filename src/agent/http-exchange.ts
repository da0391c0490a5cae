/**
 * A request that is no model call: method, host, status and timing are recorded, nothing of its content. A program that
 * makes thousands of requests a second is recorded in part, and how many were left out is said.
 */
import type { CallStatus } from '../journal/layout-agent.ts';
import { endOf, errorOf } from './call-error.ts';
import type { Exchange, ExchangeStart } from './exchange.ts';
import type { AgentRecorder } from './recorder.ts';

const perSecond = 50;
const { now } = Date;

interface Allowance {
  second: number;
  left: number;
  skipped: number;
}
const allowances = new WeakMap<AgentRecorder, Allowance>();

/** False when too many requests were recorded in this second. */
export function mayRecordHttp(recorder: AgentRecorder): boolean {
  const allowance = allowances.get(recorder) ?? { second: 0, left: 0, skipped: 0 };
  allowances.set(recorder, allowance);
  const second = Math.floor(now() / 1000);
  if (allowance.second !== second) {
    if (allowance.skipped) recorder.sink.record('http.skipped', { count: allowance.skipped });
    Object.assign(allowance, { second, left: perSecond, skipped: 0 });
  }
  if (allowance.left-- > 0) return true;
  allowance.skipped++;
  return false;
}

export class HttpExchange implements Exchange {
  readonly #recorder: AgentRecorder;
  readonly #id: string;
  readonly #startedAt = now();
  #status: number | undefined;
  #bytes = 0;
  #ended = false;

  constructor(recorder: AgentRecorder, start: ExchangeStart) {
    this.#recorder = recorder;
    this.#id = recorder.nextId('h');
    const { method, host, port } = start;
    const place = port === undefined ? host : `${host}:${port}`;
    recorder.sink.record('http.start', { http: this.#id, method, ...recorder.scope }, { host: place });
  }

  requestChunk(): void {}

  requestSent(): void {}

  responseHead(status: number): void {
    this.#status = status;
  }

  responseChunk(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
  }

  end(): void {
    this.#close((this.#status ?? 0) >= 400 ? 'failed' : 'finished');
  }

  fail(error: unknown): void {
    this.#close(endOf(error, this.#status !== undefined), error);
  }

  #close(status: CallStatus, error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const facts = { http: this.#id, status, tookMs: now() - this.#startedAt, bytes: this.#bytes };
    this.#recorder.sink.record(
      'http.end',
      this.#status === undefined ? facts : { ...facts, httpStatus: this.#status },
      error === undefined ? undefined : { error: errorOf(error) },
    );
  }
}
