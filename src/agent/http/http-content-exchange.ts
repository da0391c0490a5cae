/**
 * A request that is not a model call, recorded with its content. Programs opt in to this, so that a replay can answer in
 * place of the server. A record is written when the request is sent and when it is answered; at a death, whatever has arrived
 * by then is added.
 */
import type { CallStatus, HttpAnswered } from '../../journal/layout/agent.ts';
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import type { AgentScope } from '../record/scope.ts';
import { type CallFailure, readFailure } from './call-error.ts';
import type { Exchange, ExchangeStart, HeaderLookup } from './exchange.ts';
import { BodyReader } from './http-body.ts';

const { now } = Date;

/** Headers of the reply that programs act on. Cookies and other credentials are not recorded. */
const keptHeaders = [
  'content-type',
  'content-language',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'cache-control',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'allow',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
  'x-total-count',
  'mcp-session-id',
];

export class HttpContentExchange implements Exchange, InFlight {
  readonly #recorder: AgentRecorder;
  readonly #start: ExchangeStart;
  readonly #id: string;
  readonly #scope: AgentScope & { request?: string };
  readonly #startedAt = now();
  readonly #sent: BodyReader;
  #received: BodyReader | undefined;
  #status: number | undefined;
  #headers: Record<string, string> = {};
  #wireBytes = 0;
  /** The number of bytes at the last write for a death that the process survived. */
  #toldBytes = -1;
  #isBegun = false;
  #isEnded = false;

  constructor(recorder: AgentRecorder, start: ExchangeStart) {
    this.#recorder = recorder;
    this.#start = start;
    this.#id = recorder.nextId('h');
    this.#scope = { ...recorder.scope, ...recorder.byOrigin };
    this.#sent = new BodyReader(start.header('content-encoding'));
    recorder.inFlight.add(this);
  }

  requestChunk(chunk: Uint8Array | string): void {
    if (!this.#isBegun) this.#sent.push(chunk);
  }

  requestSent(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#sent.end();
    const { method, host, port, path, query } = this.#start;
    const body = this.#sent.read(this.#clean);
    const asked = { path: this.#clean(query ? `${path}?${query}` : path), ...(body && { body }) };
    const facts = { http: this.#id, method, ...this.#scope, asked };
    this.#recorder.sink.record('http.start', facts, { host: port === undefined ? host : `${host}:${port}` });
  }

  responseHead(status: number, header: HeaderLookup): void {
    this.requestSent();
    this.#status = status;
    for (const name of keptHeaders) {
      const value = header(name);
      if (value !== undefined) this.#headers[name] = this.#recorder.sink.cleanText(value);
    }
    this.#received = new BodyReader(header('content-encoding'));
  }

  responseChunk(chunk: Uint8Array): void {
    this.#wireBytes += chunk.length;
    this.#received?.push(chunk);
  }

  end(): void {
    this.#close((this.#status ?? 0) >= 400 ? 'failed' : 'finished');
  }

  fail(error: unknown): void {
    const { status, content } = readFailure(error, this.#status !== undefined);
    this.#close(status, content);
  }

  flush(): void {
    this.requestSent();
    if (this.#status === undefined || this.#wireBytes === this.#toldBytes) return;
    this.#toldBytes = this.#wireBytes;
    const facts = { http: this.#id, httpStatus: this.#status, answered: this.#answered() };
    this.#recorder.sink.record('http.answer', facts);
  }

  #close(status: CallStatus, failure?: CallFailure['content']): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.requestSent();
    this.#received?.end();
    this.#recorder.inFlight.delete(this);
    const known = { http: this.#id, status, tookMs: now() - this.#startedAt, bytes: this.#wireBytes };
    const answered = this.#status !== undefined && {
      httpStatus: this.#status,
      answered: this.#answered(),
    };
    this.#recorder.sink.record('http.end', { ...known, ...answered }, failure);
    this.#received = undefined;
  }

  #answered(): HttpAnswered {
    const body = this.#received?.read(this.#clean);
    return { headers: this.#headers, ...(body && { body }) };
  }

  readonly #clean = (text: string): string => this.#recorder.sink.cleanWhole(text);
}
