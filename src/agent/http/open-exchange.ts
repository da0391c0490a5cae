/** Selects how a request is recorded. */

import { McpExchange, mayBeMcp } from '../calls/mcp-exchange.ts';
import { ModelExchange } from '../calls/model-exchange.ts';
import { byBody } from '../providers/by-body.ts';
import { findFormat } from '../providers/table.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import type { Exchange, ExchangeStart } from './exchange.ts';
import { openHttpExchange } from './http-exchange.ts';
import { httpLogOf } from './http-log.ts';

/** The recording of a request that starts now; undefined if it is not recorded. */
export function openExchange(recorder: AgentRecorder, start: ExchangeStart): Exchange | undefined {
  if (start.method === 'POST') {
    const format = findFormat(start);
    // A path that only sounds like a model's may be that of an MCP server (`/messages`).
    const isMcp = mayBeMcp(start);
    if (format && !(isMcp && format === byBody)) return new ModelExchange(recorder, start, format);
    if (isMcp) return new McpExchange(recorder, start);
  }
  return httpLogOf(recorder).mayRecord() ? openHttpExchange(recorder, start) : undefined;
}

/**
 * Like `openExchange`, but calls `describe` only if the request may be a model call or is recorded at all. A program that
 * makes thousands of other requests per second thus pays for a comparison only.
 */
export function openDescribed(
  recorder: AgentRecorder,
  method: string,
  describe: () => ExchangeStart | undefined,
): Exchange | undefined {
  if (method === 'POST') {
    const start = describe();
    return start && openExchange(recorder, start);
  }
  const start = httpLogOf(recorder).mayRecord() ? describe() : undefined;
  return start && openHttpExchange(recorder, start);
}

/** Whether the recording needs the bytes of the body. */
export function readsBody(recorder: AgentRecorder, start: ExchangeStart): boolean {
  if (recorder.httpLevel === 'content') return true;
  return start.method === 'POST' && (findFormat(start) !== undefined || mayBeMcp(start));
}
