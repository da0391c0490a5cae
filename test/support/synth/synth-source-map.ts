/**
 * Builds source maps for tests. Restates the encoding of the format on purpose, so that a reader and its tests can't share a
 * mistake. Source: ECMA-426.
 */

/** All numbers are 0-based. `name` without `source` is ignored. */
export interface SynthSegment {
  line: number;
  column: number;
  source?: number;
  sourceLine?: number;
  sourceColumn?: number;
  name?: number;
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** One number in base64 VLQ: the sign in the lowest bit, five bits per digit, the sixth bit set if more digits follow. */
export function encodeVlq(value: number): string {
  let rest = value < 0 ? -value * 2 + 1 : value * 2;
  let text = '';
  do {
    const digit = rest % 32;
    rest = Math.floor(rest / 32);
    text += base64[rest > 0 ? digit + 32 : digit];
  } while (rest > 0);
  return text;
}

/** `mappings` for segments, which must be sorted by line. */
export function encodeMappings(segments: readonly SynthSegment[]): string {
  const parts: string[] = [];
  const last = { line: 0, column: 0, source: 0, sourceLine: 0, sourceColumn: 0, name: 0 };
  let first = true;
  for (const segment of segments) {
    if (segment.line > last.line) {
      parts.push(';'.repeat(segment.line - last.line));
      Object.assign(last, { line: segment.line, column: 0 });
    } else if (!first) parts.push(',');
    first = false;
    parts.push(encodeVlq(segment.column - last.column));
    last.column = segment.column;
    if (segment.source === undefined) continue;
    const { source, sourceLine = 0, sourceColumn = 0 } = segment;
    parts.push(encodeVlq(source - last.source), encodeVlq(sourceLine - last.sourceLine));
    parts.push(encodeVlq(sourceColumn - last.sourceColumn));
    Object.assign(last, { source, sourceLine, sourceColumn });
    if (segment.name === undefined) continue;
    parts.push(encodeVlq(segment.name - last.name));
    last.name = segment.name;
  }
  return parts.join('');
}

/** A map object with `sources` and `names` long enough for `segments`. */
export function synthMap(segments: readonly SynthSegment[], fields: Record<string, unknown> = {}) {
  const highest = (of: (s: SynthSegment) => number | undefined) =>
    segments.reduce((max, segment) => Math.max(max, of(segment) ?? -1), -1);
  const list = (prefix: string, count: number, suffix = '') =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}${suffix}`);
  return {
    version: 3,
    sources: list('src/', highest((s) => s.source) + 1, '.ts'),
    names: list('name', highest((s) => s.name) + 1),
    mappings: encodeMappings(segments),
    ...fields,
  };
}

/** A large map, the same on every run: `bytes` of mappings, on one line or on many. */
export function largeMappings(bytes: number, oneLine: boolean, sources: number, names: number): string {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % below;
  };
  const parts: string[] = [];
  let length = 0;
  let [source, line, column, name] = [0, 0, 0, 0];
  while (length < bytes) {
    const next = {
      source: random(50) === 0 ? random(sources) : source,
      line: line + random(3),
      column: random(80),
    };
    if (next.source !== source) next.line = random(50);
    let text = encodeVlq(1 + random(20)) + encodeVlq(next.source - source);
    text += encodeVlq(next.line - line) + encodeVlq(next.column - column);
    [source, line, column] = [next.source, next.line, next.column];
    if (random(4) === 0) {
      const chosen = random(names);
      text += encodeVlq(chosen - name);
      name = chosen;
    }
    text += !oneLine && random(12) === 0 ? ';' : ',';
    parts.push(text);
    length += text.length;
  }
  return parts.join('').slice(0, -1);
}
