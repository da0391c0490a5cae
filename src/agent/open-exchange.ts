/** Which kind of recording a request gets. */

import type { Exchange, ExchangeStart } from './exchange.ts';
import { openHttpExchange } from './http-exchange.ts';
import { httpLogOf } from './http-log.ts';
import { McpExchange, mayBeMcp } from './mcp-exchange.ts';
import { ModelExchange } from './model-exchange.ts';
import { findFormat } from './providers/table.ts';
import type { AgentRecorder } from './recorder.ts';

/** The recording of a request that begins now; undefined when it is not recorded. */
export function openExchange(recorder: AgentRecorder, start: ExchangeStart): Exchange | undefined {
  const format = start.method === 'POST' ? findFormat(start) : undefined;
  if (format) return new ModelExchange(recorder, start, format);
  if (mayBeMcp(start)) return new McpExchange(recorder, start);
  return httpLogOf(recorder).mayRecord() ? openHttpExchange(recorder, start) : undefined;
}
