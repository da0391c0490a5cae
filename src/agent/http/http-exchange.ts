/**
 * A request that is not a model call, or that no reader understands. What is recorded of it is documented in `http-log.ts`,
 * and in `http-content-exchange.ts` for programs that opted in to its content.
 */
import type { AgentEventData, CallStatus } from '../../journal/layout/agent.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { type CallFailure, readFailure } from './call-error.ts';
import type { Exchange, ExchangeStart } from './exchange.ts';
import { HttpContentExchange } from './http-content-exchange.ts';
import { type HttpLog, type HttpRequest, httpLogOf } from './http-log.ts';

const { now } = Date;

/** `sent`: the whole body, if the request was first treated as another kind. */
export function openHttpExchange(
  recorder: AgentRecorder,
  start: ExchangeStart,
  sent?: readonly (Uint8Array | string)[],
): Exchange {
  const Kind = recorder.httpLevel === 'content' ? HttpContentExchange : HttpExchange;
  const exchange = new Kind(recorder, start);
  if (sent) {
    for (const chunk of sent) exchange.requestChunk(chunk);
    exchange.requestSent();
  }
  return exchange;
}

class HttpExchange implements Exchange {
  readonly #recorder: AgentRecorder;
  readonly #log: HttpLog;
  readonly #request: HttpRequest;
  #status: number | undefined;
  #bytes = 0;
  #ended = false;

  constructor(recorder: AgentRecorder, start: ExchangeStart) {
    this.#recorder = recorder;
    this.#log = httpLogOf(recorder);
    const { method, host, port } = start;
    this.#request = {
      id: recorder.nextId('h'),
      method,
      host: port === undefined ? host : `${host}:${port}`,
      scope: recorder.scope,
      byOrigin: recorder.byOrigin,
      startedAt: now(),
    };
    this.#log.opened(this.#request);
  }

  requestChunk(_chunk: Uint8Array | string): void {}

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
    const { status, content } = readFailure(error, this.#status !== undefined);
    this.#close(status, content);
  }

  #close(status: CallStatus, failure?: CallFailure['content']): void {
    if (this.#ended) return;
    this.#ended = true;
    const { id, startedAt } = this.#request;
    const known: AgentEventData['http.end'] = {
      http: id,
      status,
      tookMs: now() - startedAt,
      bytes: this.#bytes,
    };
    if (this.#status !== undefined) known.httpStatus = this.#status;
    const endedAt = startedAt + known.tookMs;
    this.#log.closed(this.#request, (start) => {
      if (!start) this.#recorder.sink.record('http.end', known, failure, 'ahead', endedAt);
      else {
        const { method, host, startedAt, byOrigin } = start;
        const facts = { ...known, method, startedAt, ...byOrigin };
        this.#recorder.sink.record('http.end', facts, { host, ...failure }, 'ahead', endedAt);
      }
    });
  }
}
