/**
 * What a run was waiting for, one sentence each, the longest wait first. A step that waits for something that is named
 * itself is left out.
 */
import type { AgentRun } from '../../model/agent-state.ts';
import { formatDuration } from '../../model/quantities.ts';

export function renderPending(run: AgentRun): string[] {
  const lines: { ageMs: number; text: string }[] = [];
  for (const call of run.modelCalls)
    if (call.ageMs !== undefined) lines.push({ ageMs: call.ageMs, text: callText(call) });
  for (const tool of run.toolCalls)
    if (tool.ageMs !== undefined)
      lines.push({
        ageMs: tool.ageMs,
        text: `tool ${tool.name} (${tool.id}), ${tool.status} ${since(tool.status, tool.ageMs)}`,
      });
  const known = stepsInWork(run);
  for (const step of run.steps)
    if (step.ageMs !== undefined && !known.has(step.id))
      lines.push({
        ageMs: step.ageMs,
        text: `step ${step.name ?? step.id}, running for ${formatDuration(step.ageMs)}`,
      });
  for (const wait of run.waits ?? []) {
    const holder = wait.heldBy === undefined ? '' : `, held by ${wait.heldBy}`;
    lines.push({
      ageMs: wait.ageMs,
      text: `${wait.kind} ${wait.what} for ${formatDuration(wait.ageMs)}${holder}`,
    });
  }
  return lines.sort((a, b) => b.ageMs - a.ageMs).map(({ text }) => text);
}

/** Steps in which something else is open. */
function stepsInWork(run: AgentRun): Set<string | undefined> {
  const open = [...run.modelCalls, ...run.toolCalls].filter(({ ageMs }) => ageMs !== undefined);
  return new Set([...open, ...(run.waits ?? [])].map(({ stepId }) => stepId));
}

/** Running for so long, or asked for so long ago. */
function since(status: string, ageMs: number): string {
  return status === 'running' ? `for ${formatDuration(ageMs)}` : `${formatDuration(ageMs)} ago`;
}

function callText(call: AgentRun['modelCalls'][number]): string {
  const to = [call.provider, call.model].filter(Boolean).join(' ');
  const came = call.bytes
    ? `, ${call.frames} frames and ${call.bytes} bytes so far`
    : ', no byte of a reply yet';
  const last = call.lastByteAgeMs === undefined ? '' : `, the last ${formatDuration(call.lastByteAgeMs)} ago`;
  return `model call to ${to} for ${formatDuration(call.ageMs ?? 0)}${came}${last}`;
}
