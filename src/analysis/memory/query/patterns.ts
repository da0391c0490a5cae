/** The patterns of texts: SQL's `like`, a shell's `glob`, regular expressions. All become regular expressions. */
import type { PatternStyle } from './syntax.ts';

/** Undefined for what is no regular expression. */
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

/** A backslash takes a sign's meaning away. Runs of `any` are one, so that no pattern takes more than its share of time. */
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
