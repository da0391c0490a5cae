/** What is known of a tool call or a step, in words: each from what was seen, none from what was asked for. Pure. */
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
/** `step plan`, and `step 1` of a framework that calls it so itself. */
export function stepText(name: string): string {
  return /^step\b/i.test(name) ? name : `step ${name}`;
}
