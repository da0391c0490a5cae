/** Text patterns: SQL's `like`, shell `glob`, regular expressions. All are converted to regular expressions. */
import type { PatternStyle } from './syntax.ts';

/** Undefined if it isn't a valid regular expression. */
export function readPattern(text: string, style: PatternStyle): RegExp | undefined {
  switch (style) {
    case 'like':
      return new RegExp(`^${translate(text, '%', '_')}$`, 'su');
    case 'ilike':
      return new RegExp(`^${translate(text, '%', '_')}$`, 'sui');
    case 'glob':
      return new RegExp(`^${translate(text, '*', '?')}$`, 'su');
    case 'regexp':
      try {
        return new RegExp(text, 'u');
      } catch {
        return undefined;
      }
  }
}

/** A backslash escapes the next character. Runs of `any` are merged, which limits the time for matching. */
function translate(text: string, any: string, one: string): string {
  let pattern = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '\\' && at + 1 < text.length) pattern += literal(text[++at]!);
    else if (sign === any) pattern += pattern.endsWith('.*') ? '' : '.*';
    else pattern += sign === one ? '.' : literal(sign);
  }
  return pattern;
}

const literal = (sign: string): string => sign.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
