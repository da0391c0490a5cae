/** The details of one row of the timeline. */

import type { AgentError, AgentRun, AgentStep, ModelCall, ToolCall } from '../../../model/agent-state.ts';
import { formatBytes, formatDuration, formatNumber } from '../../../model/quantities.ts';
import { toolStateText } from '../../../model/tool-text.ts';
import type { TimelineRow } from '../figures/timeline.ts';
import { Facts, LongText } from '../parts/small.tsx';
import { Value } from '../parts/value.tsx';

export function TimelineDetail({ row }: { row: TimelineRow }) {
  return (
    <div class="detail">
      <Body row={row} />
    </div>
  );
}

function Body({ row: { kind, source } }: { row: TimelineRow }) {
  switch (kind) {
    case 'model':
      return <Model call={source as ModelCall} />;
    case 'tool':
      return <Tool call={source as ToolCall} />;
    case 'step':
      return <Step step={source as AgentStep} />;
    case 'run':
      return <Run run={source as AgentRun} />;
    default:
      return <Value value={source} open />;
  }
}

const duration = (ms: number | undefined) => (ms === undefined ? undefined : formatDuration(ms));

function Model({ call }: { call: ModelCall }) {
  const tokens =
    call.inputTokens === undefined && call.outputTokens === undefined
      ? undefined
      : `${formatNumber(call.inputTokens ?? 0)} in, ${formatNumber(call.outputTokens ?? 0)} out`;
  return (
    <>
      <Facts
        facts={[
          ['Model', [call.provider, call.model].filter(Boolean).join(' ')],
          ['Status', call.status],
          ['Tokens', tokens],
          ['Took', duration(call.durationMs)],
          ['Open for', duration(call.ageMs)],
          ['First byte after', duration(call.firstByteMs)],
          ['Last byte before death', duration(call.lastByteAgeMs)],
          ['HTTP', call.httpStatus],
          ['Ended by', call.finishReasons?.join(', ')],
          ['Received', call.bytes === undefined ? undefined : receivedText(call)],
          ['Attempt', call.resendCount ? call.resendCount + 1 : undefined],
        ]}
      />
      <Failure error={call.error} />
      <Named name="New in the request" value={call.request} />
      <Named name="Reply" value={call.response} />
      {call.partialText === undefined ? null : (
        <div class="named">
          <h4>What had come of the reply</h4>
          <LongText text={call.partialText} />
          <span class="cut">† cut here</span>
        </div>
      )}
    </>
  );
}

function receivedText({ bytes = 0, frames }: ModelCall): string {
  return frames ? `${formatBytes(bytes)} in ${formatNumber(frames)} pieces` : formatBytes(bytes);
}

function Tool({ call }: { call: ToolCall }) {
  return (
    <>
      <Facts
        facts={[
          ['Tool', call.name],
          ['Call', <code key="id">{call.id}</code>],
          ['Status', toolStateText(call)],
          ['Took', duration(call.durationMs)],
          ['Open for', duration(call.ageMs)],
          [
            'Asked for by',
            call.requestedBy && <a href={`#call-${call.requestedBy}`}>model call {call.requestedBy}</a>,
          ],
        ]}
      />
      <Failure error={call.error} />
      <Named name="Arguments" value={call.arguments} />
      <Named name="Result" value={call.result} />
    </>
  );
}

function Step({ step }: { step: AgentStep }) {
  return (
    <>
      <Facts
        facts={[
          ['Step', step.name],
          ['Status', step.status],
          ['Took', duration(step.durationMs)],
          ['Open for', duration(step.ageMs)],
        ]}
      />
      <Failure error={step.error} />
      <Named name="Result" value={step.result} />
    </>
  );
}

function Run({ run }: { run: AgentRun }) {
  const { usage, progress } = run;
  return (
    <>
      <Facts
        facts={[
          ['Run', run.id],
          ['Status', run.status],
          ['Took', duration(run.durationMs)],
          [
            'Tokens',
            usage &&
              `${formatNumber(usage.inputTokens ?? 0)} in, ${formatNumber(usage.outputTokens ?? 0)} out`,
          ],
          ['Within', run.parentId && <a href={`#run-${run.parentId}`}>run {run.parentId}</a>],
          [
            'Progress',
            progress &&
              `${progress.done ?? '?'} of ${progress.total ?? '?'}${progress.note ? `, ${progress.note}` : ''}, ${formatDuration(progress.ageMs)} before`,
          ],
          ['Not ended', run.pending.join('; ')],
          ['Requested', run.requested?.join('; ')],
        ]}
      />
      <Failure error={run.error} />
      <Named name="Plan" value={run.plan} />
      <Named name="State" value={run.state} />
    </>
  );
}

function Failure({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const { type, message, code } = (typeof error === 'object' && error !== null ? error : {}) as AgentError;
  return (
    <div class="named failure">
      <h4>Failed with</h4>
      {message === undefined ? (
        <Value value={error} open />
      ) : (
        <LongText text={[type, code, message].filter((word) => word !== undefined).join(': ')} />
      )}
    </div>
  );
}

function Named({ name, value }: { name: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <div class="named">
      <h4>{name}</h4>
      <Value value={value} open />
    </div>
  );
}
