/** Failed requests that were not model calls: downloads, requests made by tools. Identical failures share one row. */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import type { FailedRequest } from '../../../model/agent-state.ts';
import { dropUndefined } from '../drop-undefined.ts';

const mostRows = 20;

/** `at` is the end of the recording. Newest row last. */
export function findFailedRequests(events: readonly AgentEvent[], at: number): FailedRequest[] {
  const started = new Map<string, { method: string; host: string }>();
  const rows = new Map<string, FailedRequest>();
  for (const event of events) {
    if (event.kind === 'http.start') started.set(event.http, event);
    if (event.kind !== 'http.end') continue;
    const known = started.get(event.http);
    started.delete(event.http);
    const [method, host] = [known?.method ?? event.method, known?.host ?? event.host];
    if (method === undefined || host === undefined || !hasFailed(event)) continue;
    const { httpStatus, error } = event;
    const key = JSON.stringify([method, host, httpStatus, error?.type, error?.code, error?.message]);
    const times = (rows.get(key)?.times ?? 0) + 1;
    rows.delete(key);
    rows.set(
      key,
      dropUndefined({
        method,
        host,
        httpStatus,
        error,
        times,
        beforeEndMs: Math.max(0, at - event.at),
      }),
    );
  }
  return [...rows.values()].slice(-mostRows);
}

/** Requests that the program aborted itself don't count as failed. */
function hasFailed({ status, httpStatus }: Extract<AgentEvent, { kind: 'http.end' }>): boolean {
  return status === 'failed' || status === 'cut' || (httpStatus !== undefined && httpStatus >= 400);
}
