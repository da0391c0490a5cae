/**
 * One line of a V8 stack, `    at async new Class.method [as alias] (location)`. Strict about the location, so that
 * prose that begins with "at" is no frame; lenient about names, which may be any text. What surrounds the line is
 * stack-text.ts's business.
 */
import { isLocationStart, parseLocation, type TextLocation } from './location.ts';

export interface TextFrame {
  /** The line without white space and punctuation around it. */
  raw: string;
  /** As printed, `Class.method` or `method`, without async, new and alias. Absent for code at top level. */
  functionName?: string;
  /** The property that the method was called as, when it differs from its name. */
  alias?: string;
  async: boolean;
  /** Called with `new`. */
  construct: boolean;
  location: TextLocation;
  /** What a source-mapping host printed below the frame (`    -> /src/x.ts:1:2`): the location is the generated one. */
  mapped?: { file: string; line: number; column?: number };
}

export interface FrameLine {
  frame: TextFrame;
  /** Punctuation of util.inspect after the frame: `{` when properties follow, `,` after an element of a list. */
  tail: string;
}

/** Names with spaces and parentheses are possible but never this many. */
const mostSplits = 8;

/** The frame that a line spells, or undefined. */
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

/** "at 10:30" in a message: a line without column is believed only after a name or something that looks like a path. */
function isClockTime(location: TextLocation): boolean {
  return (
    location.kind === 'source' &&
    location.position.column === undefined &&
    !/[./\\]/.test(location.position.file)
  );
}

/** Takes the first parenthesis behind which a location begins; else the first behind which one can be read at all. */
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
