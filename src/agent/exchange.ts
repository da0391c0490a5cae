/**
 * One HTTP request and its reply, as a tap sees it: what a tap feeds, and which kind of recording a request gets. Knows
 * how nothing of this is tapped.
 */
import { openHttpExchange } from './http-exchange.ts';
import { httpLogOf } from './http-log.ts';
import { McpExchange, mayBeMcp } from './mcp-exchange.ts';
import type { RequestTarget } from './model-call.ts';
import { ModelExchange } from './model-exchange.ts';
import { findFormat } from './providers/table.ts';
import type { AgentRecorder } from './recorder.ts';

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

/** The recording of a request that begins now; undefined when it is not recorded. */
export function openExchange(recorder: AgentRecorder, start: ExchangeStart): Exchange | undefined {
  const format = start.method === 'POST' ? findFormat(start) : undefined;
  if (format) return new ModelExchange(recorder, start, format);
  if (mayBeMcp(start)) return new McpExchange(recorder, start);
  return httpLogOf(recorder).mayRecord() ? openHttpExchange(recorder, start) : undefined;
}
