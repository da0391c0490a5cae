/**
 * Masks: parts of an input that differ from run to run without meaning anything, such as times, random ids and counters. Two
 * inputs that differ only in masked parts are equal.
 */
import { AgentdumpError } from '../../errors.ts';

/**
 * `time`: ISO 8601 times, times of HTTP headers, and milliseconds since 1970. `id`: UUIDs, ULIDs, and 16 or more hexadecimal
 * digits. `/pattern/flags`, or a RegExp: what it matches; if it has groups, only what they match.
 */
export type Mask = 'time' | 'id' | RegExp | `/${string}`;

const known: Record<string, RegExp> = {
  // Seconds may be missing, and a space may stand instead of the T. 13 digits from 1 are the years 2001 to 2033.
  time: /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT|(?<![\w.])1\d{12}(?![\w.])/g,
  id: /(?<![\w-])[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?![\w-])|(?<!\w)(?:[0-7][0-9A-HJKMNP-TV-Z]{25}|(?=[0-9a-f]*\d)[0-9a-f]{16,}|(?=[0-9A-F]*\d)[0-9A-F]{16,})(?!\w)/g,
};

const placeholder = '[masked]';

/** The masks as one function on texts. Throws `usage` for one that is neither known nor a pattern. */
export function masking(masks: readonly Mask[]): (text: string) => string {
  const patterns = masks.map(patternOf);
  return (text) => patterns.reduce((masked, pattern) => replaceIn(masked, pattern), text);
}

/** Applies a function of `masking` to all strings and numbers of a value; keys are left. A number that is masked becomes a string. */
export function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') {
    const text = String(value);
    const masked = mask(text);
    return masked === text ? value : masked;
  }
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskValue(item, mask)]));
}

function patternOf(mask: Mask): RegExp {
  if (mask instanceof RegExp) return asGlobal(mask.source, mask.flags);
  const found = Object.hasOwn(known, mask) ? known[mask] : undefined;
  if (found) return found;
  const [, source, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(mask) ?? [];
  if (source === undefined) throw invalid(mask, 'expected time, id or /pattern/');
  try {
    return asGlobal(source, flags);
  } catch (error) {
    throw invalid(mask, (error as Error).message);
  }
}

/** `d`: where the groups are. */
function asGlobal(source: string, flags: string): RegExp {
  return new RegExp(source, [...new Set(`${flags.replace('y', '')}dg`)].join(''));
}

function replaceIn(text: string, pattern: RegExp): string {
  let masked = '';
  let end = 0;
  for (const { 0: match, index, indices } of text.matchAll(pattern)) {
    const groups = indices?.slice(1).filter((range) => range !== undefined) ?? [];
    const ranges = groups.length > 0 ? groups : [[index, index + match.length] as const];
    for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
      // An empty match masks nothing, and a group within another one is masked with it.
      if (from < end || from === to) continue;
      masked += text.slice(end, from) + placeholder;
      end = to;
    }
  }
  return masked + text.slice(end);
}

function invalid(mask: string, why: string): AgentdumpError {
  return new AgentdumpError('usage', `the mask ${mask} is not valid: ${why}`, { argument: 'mask' });
}
