/** The state of a tool call or step in words: only what was observed, not what was requested. Pure. */
import type { ToolCall, ToolCallStatus } from './agent-state.ts';
import { formatDuration } from './quantities.ts';

const states: Record<ToolCallStatus, string> = {
  requested: 'requested by the model, not seen to run',
  running: 'running',
  finished: 'returned',
  failed: 'threw',
  aborted: 'aborted',
  interrupted: 'stopped to ask a person',
  refused: 'refused, did not run',
  limit: 'requested by the model, did not run',
};

/** `running for 3 s`, `threw after 120 ms`, `requested by the model, not seen to run (its arguments are not valid JSON)`. */
export function toolStateText({ status, durationMs, ageMs, eventId, because }: ToolCall): string {
  const isTimed = eventId !== undefined;
  const time =
    isTimed && durationMs !== undefined
      ? ` after ${formatDuration(durationMs)}`
      : status === 'running' && ageMs !== undefined
        ? ` for ${formatDuration(ageMs)}`
        : '';
  return `${states[status] ?? status}${time}${because === undefined ? '' : ` (${because})`}`;
}
/** `step plan`, or `step 1` if the framework's name already begins with "step". */
export function stepText(name: string): string {
  return /^step\b/i.test(name) ? name : `step ${name}`;
}
