/**
 * Failed requests that were not model calls: downloads, requests made by tools. Identical failures share one row, and those of
 * the request or test whose work died have rows of their own.
 */
import type { AgentEvent, ByOrigin } from '../../../journal/layout/agent.ts';
import type { FailedRequest } from '../../../model/agent-state.ts';
import { dropUndefined } from '../drop-undefined.ts';

const mostRows = 20;

interface Started extends ByOrigin {
  method: string;
  host: string;
}

/** `at` is the end of the recording, `culprit` whose work died. Newest row last. */
export function findFailedRequests(
  events: readonly AgentEvent[],
  at: number,
  culprit: ByOrigin = {},
): FailedRequest[] {
  const started = new Map<string, Started>();
  const rows = new Map<string, { row: FailedRequest; others: Set<string> }>();
  for (const event of events) {
    if (event.kind === 'http.start') started.set(event.http, event);
    if (event.kind !== 'http.end') continue;
    const start: Partial<Started> = started.get(event.http) ?? event;
    const { method, host } = start;
    started.delete(event.http);
    if (method === undefined || host === undefined || !hasFailed(event)) continue;
    const { httpStatus, error } = event;
    const of = culprit.request === undefined ? 'test' : 'request';
    const known = culprit[of] === undefined ? undefined : start[of];
    const madeFor: FailedRequest['madeFor'] =
      known === undefined ? undefined : known === culprit[of] ? 'own' : 'others';
    const key = JSON.stringify([method, host, httpStatus, error?.type, error?.code, error?.message, madeFor]);
    const { row: before, others = new Set<string>() } = rows.get(key) ?? {};
    if (madeFor === 'others') others.add(known as string);
    rows.delete(key);
    const row: FailedRequest = dropUndefined({
      method,
      host,
      httpStatus,
      error,
      times: (before?.times ?? 0) + 1,
      madeFor,
      others: others.size || undefined,
      beforeEndMs: Math.max(0, at - event.at),
    });
    rows.set(key, { row, others });
  }
  return [...rows.values()].map(({ row }) => row).slice(-mostRows);
}

/** Requests that the program aborted itself don't count as failed. */
function hasFailed({ status, httpStatus }: Extract<AgentEvent, { kind: 'http.end' }>): boolean {
  return status === 'failed' || status === 'cut' || (httpStatus !== undefined && httpStatus >= 400);
}
