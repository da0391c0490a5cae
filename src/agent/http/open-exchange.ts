/** Which kind of recording a request gets. */

import { McpExchange, mayBeMcp } from '../calls/mcp-exchange.ts';
import { ModelExchange } from '../calls/model-exchange.ts';
import { findFormat } from '../providers/table.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import type { Exchange, ExchangeStart } from './exchange.ts';
import { openHttpExchange } from './http-exchange.ts';
import { httpLogOf } from './http-log.ts';

/** The recording of a request that begins now; undefined when it is not recorded. */
export function openExchange(recorder: AgentRecorder, start: ExchangeStart): Exchange | undefined {
  if (start.method === 'POST') {
    const format = findFormat(start);
    if (format) return new ModelExchange(recorder, start, format);
    if (mayBeMcp(start)) return new McpExchange(recorder, start);
  }
  return httpLogOf(recorder).mayRecord() ? openHttpExchange(recorder, start) : undefined;
}

/**
 * As `openExchange`, of a request that is described only where it can be a model's or is recorded at all: a program that makes
 * thousands a second pays for the comparison.
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

/** Whether the bytes of its body will be looked at. */
export function readsBody(recorder: AgentRecorder, start: ExchangeStart): boolean {
  if (recorder.httpLevel === 'content') return true;
  return start.method === 'POST' && (findFormat(start) !== undefined || mayBeMcp(start));
}
