/** A figure, and its share of the limit. */
interface GaugeProps {
  name: string;
  value: string;
  /** 0 to 1. */
  share?: number | undefined;
  note?: string;
}

export function Gauge({ name, value, share, note }: GaugeProps) {
  return (
    <div class="gauge">
      <span class="gauge-name">{name}</span>
      <span class="gauge-value">{value}</span>
      {share === undefined ? null : (
        <span class={share > 0.8 ? 'gauge-bar high' : 'gauge-bar'} aria-hidden="true">
          <span style={{ inlineSize: `${Math.min(1, share) * 100}%` }} />
        </span>
      )}
      {note ? <span class="gauge-note">{note}</span> : null}
    </div>
  );
}
