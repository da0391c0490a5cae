/**
 * Parses one line of a V8 stack, `    at async new Class.method [as alias] (location)`. Strict about the location, so that
 * prose that begins with "at" is not a frame; lenient about names, which may be any text. The lines around it are handled in
 * stack-text.ts.
 */
import { isLocationStart, parseLocation, type TextLocation } from './location.ts';

export interface TextFrame {
  /** The line without surrounding white space and punctuation. */
  raw: string;
  /** As printed, `Class.method` or `method`, without async, new and alias. Absent for top-level code. */
  functionName?: string;
  /** The property that the method was called as, if it differs from its name. */
  alias?: string;
  async: boolean;
  /** Called with `new`. */
  construct: boolean;
  location: TextLocation;
  /** Printed below the frame by a source-mapping host (`    -> /src/x.ts:1:2`): the location is then the generated one. */
  mapped?: { file: string; line: number; column?: number };
}

export interface FrameLine {
  frame: TextFrame;
  /** Punctuation of util.inspect after the frame: `{` if properties follow, `,` after an element of a list. */
  tail: string;
}

/** Names may contain spaces and parentheses, but not more than this. */
const mostSplits = 8;

/** The frame on this line, or undefined. */
export function parseFrameLine(line: string): FrameLine | undefined {
  const raw = line.trim();
  if (!raw.startsWith('at ')) return undefined;
  const frame = parseFrame(raw, raw.slice(3));
  if (frame) return { frame, tail: '' };
  const bare = raw.replace(/ ?[{},\]]{1,4}$/, '');
  if (bare === raw) return undefined;
  const inner = parseFrame(bare, bare.slice(3));
  return inner && { frame: inner, tail: raw.slice(bare.length).trim() };
}

function parseFrame(raw: string, body: string): TextFrame | undefined {
  const async = body.startsWith('async ');
  const rest = async ? body.slice(6) : body;
  const split = rest.endsWith(')') ? splitName(rest) : undefined;
  const location = split?.location ?? parseLocation(rest);
  if (!location || (!split && isClockTime(location))) return undefined;
  return { raw, ...readName(split?.name ?? ''), async, location };
}

/** For "at 10:30" in a message: a line without a column is accepted only after a name or something that looks like a path. */
function isClockTime(location: TextLocation): boolean {
  return (
    location.kind === 'source' &&
    location.position.column === undefined &&
    !/[./\\]/.test(location.position.file)
  );
}

/**
 * Splits at the first parenthesis that is followed by the start of a location; otherwise at the first one whose contents can
 * be parsed as a location.
 */
function splitName(text: string): { name: string; location: TextLocation } | undefined {
  let fallback: { name: string; location: TextLocation } | undefined;
  let open = text.indexOf(' (');
  for (let tries = 0; open >= 0 && tries < mostSplits; tries++) {
    const inner = text.slice(open + 2, -1);
    const likely = isLocationStart(text.slice(open + 2, open + 66));
    if (likely || !fallback) {
      const location = parseLocation(inner);
      if (location && likely) return { name: text.slice(0, open), location };
      if (location) fallback = { name: text.slice(0, open), location };
    }
    open = text.indexOf(' (', open + 2);
  }
  return fallback;
}

function readName(printed: string): { functionName?: string; alias?: string; construct: boolean } {
  const construct = printed.startsWith('new ');
  let name = construct ? printed.slice(4) : printed;
  let alias: string | undefined;
  const as = name.endsWith(']') ? name.lastIndexOf(' [as ') : -1;
  if (as > 0) {
    alias = name.slice(as + 5, -1);
    name = name.slice(0, as);
  }
  return { ...(name ? { functionName: name } : {}), ...(alias ? { alias } : {}), construct };
}
