/** Sizes, durations and counts in readable form, the same in verdicts and reports. Pure. */

const binaryUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `512 bytes`, `1.5 KiB`, `23 MiB`: three digits at most, binary units. */
export function formatBytes(bytes: number): string {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1023.5 && unit < binaryUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  const text = value.toFixed(digits).replace(/\.0$/, '');
  return `${bytes < 0 ? '-' : ''}${text} ${unit === 0 && value === 1 ? 'byte' : binaryUnits[unit]}`;
}

/** `340 ms`, `2.4 s`, `3 min 20 s`, `5 h 2 min`, `4 d 6 h`: the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(seconds, 60, 'min', 1, 's');
  if (seconds < 86_400) return twoUnits(seconds, 3600, 'h', 60, 'min');
  return twoUnits(seconds, 86_400, 'd', 3600, 'h');
}

function twoUnits(
  seconds: number,
  large: number,
  largeName: string,
  small: number,
  smallName: string,
): string {
  const whole = Math.floor(seconds / large);
  const rest = Math.floor((seconds % large) / small);
  return rest === 0 ? `${whole} ${largeName}` : `${whole} ${largeName} ${rest} ${smallName}`;
}

/** `1 timer`, `3 timers`; with thousands separators as in 1,024. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** 1024 → `1,024`. */
export function formatNumber(value: number): string {
  const [whole = '', fraction] = String(Math.round(value * 10) / 10).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** 0.934 → `93 %`. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `text` truncated to at most `max` characters with an ellipsis; never within a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, Math.max(max - 1, 0));
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** The first non-empty line. */
export function firstLine(text: string): string {
  return /^\s*(\S.*)?/.exec(text)?.[1]?.trimEnd() ?? '';
}

/** `up 3 h`; `up at least 3 h` if the end of the process was not observed. */
export function uptimeText({
  uptimeMs,
  uptimeIsMinimum,
}: {
  uptimeMs?: number;
  uptimeIsMinimum?: true;
}): string | undefined {
  if (uptimeMs === undefined) return undefined;
  return `up ${uptimeIsMinimum ? 'at least ' : ''}${formatDuration(uptimeMs)}`;
}
