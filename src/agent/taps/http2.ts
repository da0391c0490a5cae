/**
 * Observes the requests of `node:http2` clients. Channels provide the stream, its headers and its errors. The bodies pass
 * through `write`, `end` and `push`, which are shadowed on the individual stream: no listener is added, and no stream is
 * switched to flowing mode. HTTP/2 requests of undici are left to the undici tap, and pushed streams are not requests. Node
 * 20 has no such channels. Based on Node's lib/internal/http2/core.js; seen on Node 22.23, 24.21, 26.10.
 */
import type { ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Exchange, HeaderLookup } from '../http/exchange.ts';
import { openExchange } from '../http/open-exchange.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { listenTo, type Tap } from './channels.ts';
import { seePushed } from './pushed.ts';
import { shadowFirst } from './shadow.ts';
import { readTarget } from './target.ts';

interface Message {
  stream: ClientHttp2Stream;
  headers: OutgoingHttpHeaders;
  error: unknown;
}

/** Starts recording. */
export function tapHttp2(recorder: AgentRecorder): Tap {
  const open = new WeakMap<ClientHttp2Stream, Exchange>();
  /** A request ends once, but streams report their end several times. */
  const take = (stream: ClientHttp2Stream) => {
    const exchange = open.get(stream);
    open.delete(stream);
    return exchange;
  };
  const listeners: Record<string, (message: Message) => void> = {
    created({ stream }) {
      const exchange = begin(recorder, stream);
      if (!exchange) return;
      open.set(stream, exchange);
      if (stream.writableEnded) exchange.requestSent();
      else shadowWriting(stream, exchange);
      seePushed(stream, (chunk) => {
        if (chunk !== null) exchange.responseChunk(chunk);
        else if (!stream.closed) take(stream)?.end();
      });
    },
    finish: ({ stream, headers }) =>
      open.get(stream)?.responseHead(Number(headers[':status']), headerLookup(headers)),
    error: ({ stream, error }) => take(stream)?.fail(error),
    close({ stream }) {
      const error = errorOfClosed(stream);
      if (error) take(stream)?.fail(error);
    },
  };
  return listenTo('http2.client.stream.', listeners);
}

function begin(recorder: AgentRecorder, stream: ClientHttp2Stream): Exchange | undefined {
  const { sentHeaders, session } = stream;
  if (!sentHeaders || (session && isOfUndici(session))) return undefined;
  const header = headerLookup(sentHeaders);
  const authority = header(':authority') ?? header('host');
  const target = readTarget(`${header(':scheme') ?? 'https'}://${authority}`, header(':path') ?? '');
  const method = header(':method') ?? 'GET';
  return target && openExchange(recorder, { source: 'http2', method, header, ...target });
}

/** Every undici version that supports HTTP/2 counts the streams of a session in a property whose symbol has this name. */
function isOfUndici(session: object): boolean {
  return Object.getOwnPropertySymbols(session).some(({ description }) => description === 'open streams');
}

function shadowWriting(stream: ClientHttp2Stream, exchange: Exchange): void {
  const wrote = (chunk: unknown, encoding: unknown): void => {
    if (chunk instanceof Uint8Array) exchange.requestChunk(chunk);
    else if (typeof chunk === 'string') exchange.requestChunk(encodedText(chunk, encoding));
  };
  shadowFirst(stream, 'write', wrote);
  shadowFirst(stream, 'end', (chunk, encoding) => {
    wrote(chunk, encoding);
    exchange.requestSent();
  });
}

function encodedText(text: string, encoding: unknown): Uint8Array | string {
  const isEncoded = typeof encoding === 'string' && !/^utf-?8$/i.test(encoding);
  return isEncoded ? Buffer.from(text, encoding as BufferEncoding) : text;
}

/**
 * The error of a stream that closed before its end. Undefined for codes for which Node creates an error: that is reported by
 * a channel.
 */
function errorOfClosed({ errored, rstCode = 0 }: ClientHttp2Stream): unknown {
  if (errored) return errored;
  if (rstCode === 0) return new Error('closed before the end');
  const cancel = 8;
  return rstCode === cancel ? Object.assign(new Error('cancelled'), { code: 'ABORT_ERR' }) : undefined;
}

/** Programs may use any case in header names. */
function headerLookup(headers: OutgoingHttpHeaders): HeaderLookup {
  return (name) => {
    let value = headers[name];
    if (value === undefined) {
      const other = Object.keys(headers).find((one) => one.toLowerCase() === name);
      if (other !== undefined) value = headers[other];
    }
    return value === undefined ? undefined : String(value);
  };
}
