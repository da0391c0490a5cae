/**
 * One HTTP request and its reply, as a tap sees it: what a tap feeds. Knows how nothing of this is tapped.
 */
import type { RequestTarget } from '../calls/model-call.ts';

export type HeaderLookup = (name: string) => string | undefined;

/** A request as it begins. `host` is the host's name without the port. */
export interface ExchangeStart extends RequestTarget {
  source: 'undici' | 'http' | 'http2';
  method: string;
  port: number | undefined;
  header: HeaderLookup;
}

/** What a tap calls, in this order; each but the constructor may be missing when the connection breaks. */
export interface Exchange {
  requestChunk(chunk: Uint8Array | string): void;
  requestSent(): void;
  responseHead(status: number, header: HeaderLookup): void;
  responseChunk(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
}
