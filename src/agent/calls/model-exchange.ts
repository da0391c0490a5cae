/**
 * A request to a model and its reply, recorded as it happens: the start with the conversation that it continues, what was
 * streamed so far ten times a second, and the end with reply, usage and timing. If the body turns out not to be a model call,
 * it is recorded like any other request.
 */
import type { AgentEventData, Attributes, CallStatus } from '../../journal/layout/agent.ts';
import { type CallFailure, readFailure } from '../http/call-error.ts';
import type { Exchange, ExchangeStart, HeaderLookup } from '../http/exchange.ts';
import { openHttpExchange } from '../http/http-exchange.ts';
import { httpLogOf } from '../http/http-log.ts';
import { ReplyReader } from '../http/reply-reader.ts';
import { isModelAddress, readModelRequest } from '../providers/recognize.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { readRequestIds } from '../record/run-ids.ts';
import { compact, type JsonObject } from './json.ts';
import type { ModelRequest, ProviderFormat } from './model-call.ts';
import { ModelCallRecord } from './model-record.ts';
import { ReplyBuilder } from './reply.ts';

const requestLimitBytes = 32 * 1024 * 1024;

export class ModelExchange implements Exchange {
  readonly #recorder: AgentRecorder;
  readonly #start: ExchangeStart;
  #format: ProviderFormat;
  readonly #scope: AgentRecorder['scope'] & AgentRecorder['byOrigin'];
  readonly #reply = new ReplyBuilder();
  #body: (Uint8Array | string)[] = [];
  /** Whether it is known what this is. */
  #isDecided = false;
  #bodyBytes = 0;
  #record: ModelCallRecord | undefined;
  /** Set if the body showed that this is not a model call. */
  #other: Exchange | undefined;
  #reader: ReplyReader | undefined;
  #status: number | undefined;

  constructor(recorder: AgentRecorder, start: ExchangeStart, format: ProviderFormat) {
    this.#recorder = recorder;
    this.#start = start;
    this.#format = format;
    this.#scope = { ...recorder.scope, ...recorder.byOrigin };
  }

  requestChunk(chunk: Uint8Array | string): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes <= requestLimitBytes) this.#body.push(chunk);
    else this.#body = [];
  }

  requestSent(): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    const body = this.#body;
    const request = this.#readRequest();
    if (request === 'other') {
      this.#other = this.#openOther(body);
      return;
    }
    this.#format = request?.format ?? this.#format;
    this.#record = new ModelCallRecord(this.#recorder, this.#startData(request), request, this.#reply);
  }

  responseHead(status: number, header: HeaderLookup): void {
    this.requestSent();
    this.#status = status;
    this.#other?.responseHead(status, header);
    if (!this.#record) return;
    const type = header('content-type') ?? '';
    this.#reader = new ReplyReader(this.#format, this.#reply, type, header('content-encoding'));
    this.#record.answered(headAttributes(status, header), this.#reader);
  }

  responseChunk(chunk: Uint8Array): void {
    this.#other?.responseChunk(chunk);
    if (!this.#record || !this.#reader) return;
    this.#reader.push(chunk);
    this.#record.progressed();
  }

  end(): void {
    this.#other?.end();
    this.#reader?.end();
    const isFailure = (this.#status ?? 0) >= 400 || this.#reply.error !== undefined;
    const isCut = this.#reader?.isStream === true && !this.#reply.done;
    this.#close(isFailure ? 'failed' : isCut ? 'cut' : 'finished');
  }

  fail(error: unknown): void {
    this.requestSent();
    this.#other?.fail(error);
    this.#reader?.end();
    const { status, content } = readFailure(error, this.#status !== undefined);
    // Clients close the connection themselves once the reply is complete.
    if (status === 'aborted' && this.#reader?.isStream && this.#reply.done && !this.#reply.error)
      this.#close('finished');
    else this.#close(status, content);
  }

  #close(status: CallStatus, failure?: CallFailure['content']): void {
    if (!this.#record) return;
    const { bytes = 0, frames = 0, gap } = this.#reader ?? {};
    this.#record.ended({ status, bytes, frames, gap, httpStatus: this.#status, ...failure });
    this.#reader = undefined;
  }

  /** The request; undefined if it could not be read; 'other' if it is not a request to a model. */
  #readRequest(): ModelRequest | 'other' | undefined {
    const unread = isModelAddress(this.#format, this.#start) ? undefined : 'other';
    if (this.#bodyBytes > requestLimitBytes || this.#start.header('content-encoding')) return unread;
    const bytes = joined(this.#body);
    this.#body = [];
    if (bytes.length === 0) return unread;
    const { host, path } = this.#start;
    const read = (body: JsonObject) => {
      const request = readModelRequest(this.#format, body, this.#start);
      const ids = request && readRequestIds(body);
      return ids ? { ...request, ids } : request;
    };
    return this.#recorder.requests.read(host + path, bytes, read) ?? 'other';
  }

  #openOther(body: (Uint8Array | string)[]): Exchange | undefined {
    if (!httpLogOf(this.#recorder).mayRecord()) return undefined;
    return openHttpExchange(this.#recorder, this.#start, body);
  }

  #startData(
    request: ModelRequest | undefined,
  ): Partial<AgentEventData['model.start']> & { attributes: Attributes } {
    const { source, host, port, method, path, header } = this.#start;
    const retry = Number(header('x-stainless-retry-count'));
    return compact({
      ...this.#scope,
      source,
      bytes: this.#bodyBytes,
      gap: request ? undefined : this.#bodyBytes ? 'the body could not be read' : 'the body was not seen',
      attributes: compact({
        'gen_ai.operation.name': request?.operation ?? 'chat',
        'gen_ai.provider.name': this.#format.providerName(this.#start),
        'gen_ai.request.model': request?.model,
        'gen_ai.request.stream': request?.stream,
        ...request?.attributes,
        'server.address': host,
        'server.port': port,
        'http.request.method': method,
        'url.path': path,
        'http.request.resend_count': retry > 0 ? retry : undefined,
      }) as Attributes,
    }) as Partial<AgentEventData['model.start']> & { attributes: Attributes };
  }
}

/** The chunks as one buffer. A single chunk, as most bodies have, is not copied. */
function joined(chunks: (Uint8Array | string)[]): Buffer {
  const buffers = chunks.map((chunk) =>
    typeof chunk === 'string'
      ? Buffer.from(chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength),
  );
  return buffers.length === 1 ? (buffers[0] as Buffer) : Buffer.concat(buffers);
}

/** Headers that identify a request to the provider, and those with its rate limits. */
const shownHeaders = [
  'x-request-id',
  'request-id',
  'retry-after',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-tokens-remaining',
];

function headAttributes(status: number, header: HeaderLookup): Attributes {
  const attributes: Attributes = { 'http.response.status_code': status };
  for (const name of shownHeaders) {
    const value = header(name);
    if (value !== undefined) attributes[`http.response.header.${name}`] = value;
  }
  return attributes;
}
