/** Model calls and other requests that the program aborted with an AbortController, with the stack of the call to abort(). */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import type { AgentAbort } from '../../../model/agent-state.ts';
import { dropUndefined } from '../drop-undefined.ts';

const mostKept = 20;

/** `at` is the end of the recording. Newest last. */
export function findAborts(events: readonly AgentEvent[], at: number): AgentAbort[] {
  const started = new Map<string, string>();
  const aborts: AgentAbort[] = [];
  for (const event of events) {
    if (event.kind === 'http.start') started.set(event.http, `${event.method} ${event.host}`);
    if ((event.kind !== 'http.end' && event.kind !== 'model.end') || typeof event.abortStack !== 'string')
      continue;
    const isCall = event.kind === 'model.end';
    const own = !isCall && event.method !== undefined ? `${event.method} ${event.host}` : undefined;
    aborts.push(
      dropUndefined({
        callId: isCall ? event.call : undefined,
        request: isCall ? undefined : (started.get(event.http) ?? own),
        beforeEndMs: Math.max(0, at - event.at),
        error: event.error,
        stackText: event.abortStack,
      }),
    );
  }
  return aborts.slice(-mostKept);
}
