/**
 * What a run had begun and not ended, one sentence each, longest first, abandoned work last; and separately what the model
 * had requested and was never seen to start. A step is omitted if something listed runs inside it.
 */
import type { AgentRun, OpenWork, ToolCall } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { formatDuration } from '../../../model/quantities.ts';
import { stepText } from '../../../model/tool-text.ts';
import type { Scopes } from './left-behind.ts';

/** `isMinimum`: the death was not observed, so all ages are minima. */
export function findOpenWork(run: AgentRun, scopes: Scopes, isMinimum = false): OpenWork[] {
  const open: OpenWork[] = [];
  const lasted = (ageMs: number) => `${isMinimum ? 'at least ' : ''}${formatDuration(ageMs)}`;
  const add = (work: OpenWork, id: string | undefined, answeredMs?: number): void => {
    const ended = id === undefined ? undefined : scopes.endedAround(id);
    const left = ended
      ? `; ${ended.called} around it had ended ${lasted(ended.beforeEndMs)} before the end`
      : answeredMs === undefined
        ? ''
        : `; the model was given an answer in its place ${lasted(answeredMs)} before the end`;
    open.push({ ...work, text: `${work.text}${left}`, ...(left && { leftBehind: true }) });
  };
  for (const { id, ageMs, ...call } of run.modelCalls)
    if (ageMs !== undefined)
      add(
        {
          kind: 'model-call',
          ...(id !== undefined && { id }),
          ageMs,
          text: callText(call, ageMs, lasted),
        },
        id,
      );
  for (const { name, id, eventId, status, ageMs, answeredBeforeEndMs } of run.toolCalls)
    if (ageMs !== undefined && status === 'running')
      add(
        {
          kind: 'tool',
          id: eventId ?? id,
          ageMs,
          text: `tool ${name} (${id}), running for ${lasted(ageMs)}`,
        },
        eventId,
        answeredBeforeEndMs,
      );
  const known = stepsInWork(run);
  for (const { id, name, ageMs } of run.steps)
    if (ageMs !== undefined && !known.has(id))
      add({ kind: 'step', id, ageMs, text: `${stepText(name ?? id)}, running for ${lasted(ageMs)}` }, id);
  for (const { kind, what, ageMs, heldBy, id } of run.waits ?? [])
    add(
      {
        kind: 'wait',
        ageMs,
        text: `${kind} ${what} for ${lasted(ageMs)}${heldBy === undefined ? '' : `, held by ${heldBy}`}`,
      },
      id,
    );
  return open.sort(
    (a, b) => Number(a.leftBehind ?? false) - Number(b.leftBehind ?? false) || b.ageMs - a.ageMs,
  );
}

/** Tool calls without a recorded start: the program may run them unobserved, or may have died before. */
export function findRequested({ toolCalls }: AgentRun): string[] {
  return toolCalls.flatMap((tool) => {
    if (tool.status !== 'requested' && tool.status !== 'limit') return [];
    const when = tool.ageMs === undefined ? '' : `, asked for ${formatDuration(tool.ageMs)} before the end`;
    const why = tool.because === undefined ? '' : ` (${tool.because})`;
    return [`tool ${tool.name} (${tool.id})${when}, not seen to run${why}`];
  });
}

/** Ids of steps that contain other open work. */
function stepsInWork(run: AgentRun): Set<string | undefined> {
  const isRunning = (tool: ToolCall) => tool.ageMs !== undefined && tool.status === 'running';
  const calls = run.modelCalls.filter(({ ageMs }) => ageMs !== undefined);
  return new Set(
    [...calls, ...run.toolCalls.filter(isRunning), ...(run.waits ?? [])].map(({ stepId }) => stepId),
  );
}

function callText(
  call: Omit<AgentRun['modelCalls'][number], 'id' | 'ageMs'>,
  ageMs: number,
  lasted: (ms: number) => string,
): string {
  const came = call.bytes
    ? `, ${call.frames} frames and ${call.bytes} bytes so far`
    : ', no byte of a reply yet';
  const last = call.lastByteAgeMs === undefined ? '' : `, the last ${lasted(call.lastByteAgeMs)} ago`;
  return `model call to ${modelName(call)} for ${lasted(ageMs)}${came}${last}`;
}
