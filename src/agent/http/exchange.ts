/**
 * One HTTP request and its reply: the interface that the taps feed. Knows nothing about how a tap observes them.
 */
import type { RequestTarget } from '../calls/model-call.ts';

export type HeaderLookup = (name: string) => string | undefined;

/** A request at its start. `host` is the host name without the port. */
export interface ExchangeStart extends RequestTarget {
  source: 'undici' | 'http' | 'http2';
  method: string;
  port: number | undefined;
  header: HeaderLookup;
}

/** Called by a tap in this order. Any call except the constructor may be missing if the connection breaks. */
export interface Exchange {
  requestChunk(chunk: Uint8Array | string): void;
  requestSent(): void;
  responseHead(status: number, header: HeaderLookup): void;
  responseChunk(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
}
