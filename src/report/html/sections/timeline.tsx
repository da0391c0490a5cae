/** The agent's runs as a timeline that ends at the moment of death; each row unfolds its details. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Account } from '../../../model/account.ts';
import type { AgentState } from '../../../model/agent-state.ts';
import { formatCount, formatDuration, formatNumber } from '../../../model/quantities.ts';
import { type Moment, momentNames, momentOf } from '../figures/moment.ts';
import { timeTicks } from '../figures/scale.ts';
import { computeTimeline, type Timeline, type TimelineRow } from '../figures/timeline.ts';
import { type BarPlace, barPlace, rangesOf } from '../figures/timeline-places.ts';
import { Value } from '../parts/value.tsx';
import { Windowed } from '../parts/windowed.tsx';
import { isUnfolded, target, unfold } from '../state.ts';
import { TimelineDetail } from './timeline-detail.tsx';

const rowHeight = 34;

export function TimelineSection({ account }: { account: Account }) {
  const { agent, bundle } = account;
  const timeline = useMemo(() => agent && computeTimeline(agent, bundle?.capturedAt), [agent]);
  if (!agent) return null;
  return (
    <>
      <Waiting agent={agent} />
      {timeline ? <Picture timeline={timeline} moment={momentOf(account)} /> : null}
      <Recorded agent={agent} />
      {agent.state && Object.keys(agent.state).length ? (
        <div id="agent-state" class="state">
          <h3>State that the program handed over</h3>
          <Value value={agent.state} open />
        </div>
      ) : null}
    </>
  );
}

function Waiting({ agent }: { agent: AgentState }) {
  return (
    <>
      <Listed heading="Begun and not ended" texts={agent.runs.flatMap((run) => run.pending)} />
      <Listed heading="Requested by the model" texts={agent.runs.flatMap((run) => run.requested ?? [])} />
    </>
  );
}

function Listed({ heading, texts }: { heading: string; texts: string[] }) {
  if (!texts.length) return null;
  return (
    <div class="waiting">
      <h3>{heading}</h3>
      <ul>
        {texts.slice(0, 12).map((what, n) => (
          <li key={n}>{what}</li>
        ))}
        {texts.length > 12 ? <li class="faint">and {formatNumber(texts.length - 12)} more</li> : null}
      </ul>
    </div>
  );
}

function Recorded({ agent: { events, runs } }: { agent: AgentState }) {
  const totals = runs.reduce(
    (sum, { usage }) => ({
      input: sum.input + (usage?.inputTokens ?? 0),
      output: sum.output + (usage?.outputTokens ?? 0),
    }),
    { input: 0, output: 0 },
  );
  const lost = (events?.evicted ?? 0) + (events?.unreadable ?? 0);
  const facts = [
    formatCount(runs.length, 'run'),
    totals.input || totals.output
      ? `${formatNumber(totals.input)} tokens in, ${formatNumber(totals.output)} out`
      : undefined,
    lost ? `${formatCount(lost, 'recorded event')} lost: the oldest are not known` : undefined,
  ];
  return <p class="faint caption">{facts.filter(Boolean).join(' · ')}</p>;
}

function Picture({ timeline, moment }: { timeline: Timeline; moment: Moment }) {
  const ranges = rangesOf(timeline);
  const spanMs = useSignal(ranges[0]!.spanMs);
  const fromMs = timeline.endMs - spanMs.value;
  const rows = useMemo(
    () => timeline.rows.filter((row) => (row.endMs ?? timeline.endMs) >= fromMs),
    [timeline, spanMs.value],
  );
  const place = { fromMs, endMs: timeline.endMs };
  return (
    <div class="timeline">
      <div class="timeline-tools">
        <Legend rows={timeline.rows} />
        {ranges.length > 1 ? (
          <fieldset class="ranges">
            <legend class="hidden">Show</legend>
            {ranges.map(({ name, spanMs: span }) => (
              <button
                key={name}
                type="button"
                aria-pressed={span === spanMs.value}
                onClick={() => (spanMs.value = span)}
              >
                {name}
              </button>
            ))}
          </fieldset>
        ) : null}
      </div>
      <Axis spanMs={spanMs.value} moment={moment} />
      <div class="rows-box">
        <div class="grid-lines" aria-hidden="true">
          <div class="axis-track">
            {timeTicks(spanMs.value, 6).map((before) => (
              <i key={before} style={{ insetInlineStart: `${(1 - before / spanMs.value) * 100}%` }} />
            ))}
          </div>
        </div>
        <Windowed
          items={rows}
          rowHeight={rowHeight}
          label="Timeline"
          idOf={(row) => row.anchor}
          draw={(row) => <Row key={row.anchor} row={row} place={place} />}
        />
      </div>
    </div>
  );
}

const legendNames = {
  step: 'step',
  model: 'model call',
  tool: 'tool call',
  wait: 'wait',
  request: 'request',
} as const;

function Legend({ rows }: { rows: readonly TimelineRow[] }) {
  const kinds = new Set(rows.map(({ kind }) => kind));
  const outcomes = new Set(rows.map(({ outcome }) => outcome));
  return (
    <p class="legend">
      {Object.entries(legendNames).map(([kind, name]) =>
        kinds.has(kind as TimelineRow['kind']) ? (
          <span key={kind}>
            <i class={`swatch bar-${kind}`} /> {name}
          </span>
        ) : null,
      )}
      {outcomes.has('failed') ? (
        <span>
          <i class="swatch is-failed" /> failed
        </span>
      ) : null}
      {outcomes.has('open') || outcomes.has('requested') ? (
        <span>
          <i class="swatch is-open" /> in flight
        </span>
      ) : null}
    </p>
  );
}

function Axis({ spanMs, moment }: { spanMs: number; moment: Moment }) {
  return (
    <div class="axis" aria-hidden="true">
      <div class="axis-track">
        {timeTicks(spanMs, 6).map((before) => (
          <span
            key={before}
            class={before === 0 ? `tick now${moment === 'end' ? ' death' : ''}` : 'tick'}
            style={{ insetInlineStart: `${(1 - before / spanMs) * 100}%` }}
          >
            {before === 0 ? momentNames[moment] : `−${formatDuration(before)}`}
          </span>
        ))}
      </div>
    </div>
  );
}

interface Place {
  fromMs: number;
  endMs: number;
}

function Row({ row, place }: { row: TimelineRow; place: Place }) {
  const { anchor, kind, name, depth, outcome, status } = row;
  // On paper, successful rows take one line: hundreds of calls would fill a book.
  const isOpen = isUnfolded(anchor, false, outcome !== 'done');
  const bar = barPlace(row, place);
  return (
    <div
      class={`row row-${kind}${isOpen ? ' opened' : ''}${target.value === anchor ? ' targeted' : ''}`}
      id={anchor}
    >
      <button
        type="button"
        class="row-head"
        data-item
        aria-expanded={isOpen}
        onClick={() => {
          unfold(anchor, !isOpen);
          if (!isOpen) history.replaceState(null, '', `#${encodeURIComponent(anchor)}`);
        }}
      >
        <span class="row-label" style={{ paddingInlineStart: `${Math.min(depth, 6) * 14}px` }}>
          <i class={`swatch bar-${kind} is-${outcome}`} aria-hidden="true" />
          <span class="row-name">{name}</span>
          <span class="hidden">
            {kind}, {status}
          </span>
          {bar?.textSide === 'name' ? <span class="row-text">{textOf(row)}</span> : null}
        </span>
        <span class="track">
          <span class="lane">
            {bar ? <Bar row={row} bar={bar} /> : <span class="bar-text">{status}, when is not known</span>}
          </span>
        </span>
      </button>
      {isOpen ? <TimelineDetail row={row} /> : null}
    </div>
  );
}

function Bar({ row, bar }: { row: TimelineRow; bar: BarPlace }) {
  const { left, width, untilFirstByte, sinceLastByte, textSide } = bar;
  const textPlace =
    textSide === 'after' ? { insetInlineStart: `${left + width}%` } : { insetInlineEnd: `${100 - left}%` };
  return (
    <>
      <span
        class={`bar bar-${row.kind} is-${row.outcome}`}
        style={{ insetInlineStart: `${left}%`, inlineSize: `${width}%` }}
      >
        {untilFirstByte ? <span class="before-reply" style={{ inlineSize: `${untilFirstByte}%` }} /> : null}
        {sinceLastByte ? <span class="silence" style={{ inlineSize: `${sinceLastByte}%` }} /> : null}
      </span>
      {textSide === 'name' ? null : (
        <span class="bar-text" style={textPlace}>
          {textOf(row)}
        </span>
      )}
    </>
  );
}

function textOf({ kind, outcome, status, startMs = 0, endMs = 0 }: TimelineRow): string {
  if (kind === 'note') return '';
  const duration = formatDuration(endMs - startMs);
  if (outcome === 'done') return duration;
  if (outcome === 'failed') return `${duration}, failed`;
  return `${status} ${duration}`;
}
