/** Memory over time, up to the moment of death, with the values under the pointer as text. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { MemorySample } from '../../../model/account.ts';
import { formatBytes, formatDuration } from '../../../model/quantities.ts';
import { nearest, type Point, type Series, seriesOf, withoutOverwhelming } from '../figures/memory-series.ts';
import { type Moment, momentNames } from '../figures/moment.ts';
import { byteTicks, timeTicks } from '../figures/scale.ts';
import { useWidth } from './use-width.ts';

interface ChartProps {
  samples: readonly MemorySample[];
  limitBytes: number | undefined;
  endedAt: string | undefined;
  /** The meaning of the right edge. */
  moment: Moment;
}

interface Scales {
  x: (atMs: number) => number;
  y: (bytes: number) => number;
  width: number;
  startMs: number;
  endMs: number;
  mostBytes: number;
}

const height = 240;
const margin = { top: 14, right: 14, bottom: 26, left: 68 };

export function MemoryChart({ samples, limitBytes, endedAt, moment }: ChartProps) {
  const { ref, width } = useWidth<HTMLDivElement>(860);
  const pointer = useSignal<number | undefined>(undefined);
  const all = useMemo(() => seriesOf(samples, 600), [samples]);
  const series = withoutOverwhelming(all);
  if (!series.length) return null;
  const scales = scalesOf(series, limitBytes, endedAt, width);
  const isLimitShown = limitBytes !== undefined && limitBytes <= scales.mostBytes;
  const at = pointer.value;
  return (
    <figure class="chart" ref={ref}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={describe(series)}
        onPointerMove={(event) => {
          const share = (event.offsetX - margin.left) / (scales.width - margin.left - margin.right);
          pointer.value = scales.startMs + Math.min(1, Math.max(0, share)) * (scales.endMs - scales.startMs);
        }}
        onPointerLeave={() => {
          pointer.value = undefined;
        }}
      >
        <Grid scales={scales} moment={moment} />
        {isLimitShown ? <Limit bytes={limitBytes} scales={scales} /> : null}
        {series.map((one) => (
          <g key={one.key} class={`series series-${one.key}`}>
            <path class="area" d={areaOf(one.points, scales)} />
            <path class="curve" d={lineOf(one.points, scales)} />
          </g>
        ))}
        <line
          class="death-line"
          x1={scales.x(scales.endMs)}
          x2={scales.x(scales.endMs)}
          y1={margin.top}
          y2={height - margin.bottom}
        />
        {at === undefined ? null : (
          <line
            class="pointer-line"
            x1={scales.x(at)}
            x2={scales.x(at)}
            y1={margin.top}
            y2={height - margin.bottom}
          />
        )}
      </svg>
      <figcaption>
        <p class="legend">
          {series.map(({ key, name, points }) => {
            const point = at === undefined ? points.at(-1) : nearest(points, at);
            return (
              <span key={key}>
                <i class={`swatch series-${key}`} /> {name} <strong>{formatBytes(point?.bytes ?? 0)}</strong>
              </span>
            );
          })}
          <span class="faint">
            {at === undefined
              ? `at the ${moment}`
              : `${formatDuration(scales.endMs - at)} before the ${moment}`}
          </span>
        </p>
        {all.length > series.length ? (
          <p class="faint caption">
            The container, with all else in it, held {formatBytes(all[0]?.points.at(-1)?.bytes ?? 0)}.
          </p>
        ) : null}
      </figcaption>
    </figure>
  );
}

function scalesOf(
  series: readonly Series[],
  limit: number | undefined,
  endedAt: string | undefined,
  width: number,
): Scales {
  const all = series.flatMap(({ points }) => points);
  const highest = all.reduce((most, { bytes }) => Math.max(most, bytes), 1);
  const startMs = all.reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY);
  const lastMs = all.reduce((most, { atMs }) => Math.max(most, atMs), 0);
  const endMs = Math.max(lastMs, Date.parse(endedAt ?? '') || 0, startMs + 1);
  // A limit that is far above would flatten the lines.
  const top = limit !== undefined && limit < highest * 3 ? Math.max(limit, highest) : highest;
  const mostBytes = byteTicks(top, 4).at(-1) ?? top;
  const inner = width - margin.left - margin.right;
  return {
    width,
    startMs,
    endMs,
    mostBytes,
    x: (atMs) => margin.left + ((atMs - startMs) / (endMs - startMs)) * inner,
    y: (bytes) => height - margin.bottom - (bytes / mostBytes) * (height - margin.top - margin.bottom),
  };
}

function Grid({
  scales: { x, y, width, startMs, endMs, mostBytes },
  moment,
}: Pick<ChartProps, 'moment'> & { scales: Scales }) {
  return (
    <g class="grid">
      {byteTicks(mostBytes, 4).map((bytes) => (
        <g key={bytes}>
          <line x1={margin.left} x2={width - margin.right} y1={y(bytes)} y2={y(bytes)} />
          <text x={margin.left - 8} y={y(bytes) + 4} text-anchor="end">
            {bytes === 0 ? '0' : formatBytes(bytes)}
          </text>
        </g>
      ))}
      {timeTicks(endMs - startMs, Math.max(2, width / 160)).map((before) => (
        <text
          key={before}
          class={before === 0 && moment === 'end' ? 'death' : undefined}
          x={x(endMs - before)}
          y={height - 6}
          text-anchor={before === 0 ? 'end' : 'middle'}
        >
          {before === 0 ? momentNames[moment] : `−${formatDuration(before)}`}
        </text>
      ))}
    </g>
  );
}

function Limit({ bytes, scales: { y, width } }: { bytes: number; scales: Scales }) {
  return (
    <g class="limit">
      <line x1={margin.left} x2={width - margin.right} y1={y(bytes)} y2={y(bytes)} />
      <text x={margin.left + 6} y={y(bytes) - 5}>
        heap limit {formatBytes(bytes)}
      </text>
    </g>
  );
}

function lineOf(points: readonly Point[], { x, y }: Scales): string {
  return points
    .map(({ atMs, bytes }, n) => `${n ? 'L' : 'M'}${x(atMs).toFixed(1)} ${y(bytes).toFixed(1)}`)
    .join('');
}

function areaOf(points: readonly Point[], scales: Scales): string {
  const { x, y } = scales;
  return `${lineOf(points, scales)}L${x(points.at(-1)!.atMs).toFixed(1)} ${y(0)}L${x(points[0]!.atMs).toFixed(1)} ${y(0)}Z`;
}

function describe(series: readonly Series[]): string {
  const words = series.map(({ name, points }) => {
    const from = formatBytes(points[0]!.bytes);
    return `${name} from ${from} to ${formatBytes(points.at(-1)!.bytes)}`;
  });
  return `Memory over time: ${words.join(', ')}`;
}
