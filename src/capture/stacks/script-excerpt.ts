/**
 * What a bundle keeps of a long script and its source map: the text near the stack, at its original position. Redacting a
 * whole program that was bundled into one file takes seconds (9 MB: 3 s), and nobody reads the rest.
 */

/** 1-based, as printed in stacks. */
export interface ScriptPlace {
  line: number;
  column: number;
}

/** By URL or path of the script. */
export type FramePlaces = Map<string, ScriptPlace[]>;

const linesAround = 100;
const charsAround = 16_384;
const mostPlaces = 200;
const mostComments = 8;
const longWord = /[\w+/=-]{32,}/;
const mostBesideWord = 8;
const oddLineEnd = /\r(?!\n)|[\u2028\u2029]/;

export function addFrames(
  places: FramePlaces,
  frames: readonly (ScriptPlace & { url: string })[],
): FramePlaces {
  for (const { url, line, column } of frames) {
    const known = places.get(url);
    if (known) known.push({ line, column });
    else places.set(url, [{ line, column }]);
  }
  return places;
}

/** The positions in stack texts that refer to a script by one of these names. */
export function placesOf(names: readonly string[], stackText: string): ScriptPlace[] {
  const places: ScriptPlace[] = [];
  const position = /:(\d+)(?::(\d+))?/y;
  for (const name of new Set(names.filter(Boolean)))
    for (let at = stackText.indexOf(name); at >= 0; at = stackText.indexOf(name, at + name.length)) {
      position.lastIndex = at + name.length;
      const [, line, column = '1'] = position.exec(stackText) ?? [];
      if (line !== undefined && places.length < mostPlaces)
        places.push({ line: Number(line), column: Number(column) });
    }
  return places;
}

/**
 * The text without everything that is far from all of the places. Line ends stay, and spaces fill a long line up to what is
 * kept of it. Undefined if no place is in the text, or its lines can't be counted fast.
 */
export function excerpt(text: string, places: readonly ScriptPlace[]): string | undefined {
  if (oddLineEnd.test(text)) return undefined;
  const starts = lineStarts(text);
  const spans = places
    .filter(({ line }) => line >= 1 && line <= starts.length)
    .map((place) => spanAround(text, starts, place))
    .sort(([a], [b]) => a - b);
  if (spans.length === 0) return undefined;
  let done = 0;
  const kept: string[] = [];
  for (const [from, to] of [...spans, [startOfComments(text), text.length] as const]) {
    if (to <= done) continue;
    const begin = Math.max(from, done);
    kept.push(blank(text.slice(done, begin)), text.slice(begin, to));
    done = to;
  }
  return kept.join('');
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function spanAround(
  text: string,
  starts: readonly number[],
  { line, column }: ScriptPlace,
): readonly [from: number, to: number] {
  const start = starts[line - 1] ?? 0;
  const at = Math.min(start + column - 1, (starts[line] ?? text.length + 1) - 1);
  let from = starts[Math.max(0, line - 1 - linesAround)] ?? 0;
  let to = starts[line + linesAround] ?? text.length;
  if (from < at - charsAround) from = sound(text, at - charsAround, at);
  if (to > at + charsAround) {
    const last = text.slice(at, at + charsAround).search(/[;{}\n][^;{}\n]*$/);
    to = last < 0 ? at : at + last + 1;
  }
  for (let end = endOfLine(text, from); end < start && isOfKey(text.slice(from, end)); )
    [from, end] = [end + 1, endOfLine(text, end + 1)];
  for (let last = startOfLine(text, to); last > at && isOfKey(text.slice(last, to)); )
    [to, last] = [last, startOfLine(text, last)];
  return [from, to];
}

/** A line that is one long word may be part of a key, whose first line, by which it would be recognized, is not kept. */
function isOfKey(line: string): boolean {
  const word = longWord.exec(line)?.[0];
  return word !== undefined && line.trim().length - word.length <= mostBesideWord;
}

/** The first position from `from` on that is not inside a word or string of a secret: after the end of a statement. */
function sound(text: string, from: number, until: number): number {
  const end = text.slice(from, until).search(/[;{}\n]/);
  return end < 0 ? until : from + end + 1;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The start of the line that ends before `to`. */
function startOfLine(text: string, to: number): number {
  return to < 2 ? 0 : text.lastIndexOf('\n', to - 2) + 1;
}

/** The start of the comments at the end, which name the map and the debug id. */
function startOfComments(text: string): number {
  let from = text.length;
  for (let line = startOfLine(text, from), count = 0; count < mostComments; count++) {
    const words = text.slice(line, line + 4).trim();
    if (from - line > charsAround || (words !== '' && !/^\/\/[#@]/.test(words))) break;
    from = line;
    line = startOfLine(text, from);
  }
  return from;
}

function blank(text: string): string {
  const rest = text.length - 1 - text.lastIndexOf('\n');
  return text.slice(0, text.length - rest).replace(/[^\r\n]+/g, '') + ' '.repeat(rest);
}

/**
 * A source map without the texts of sources that contain none of the places and are not named in the stack. Anything that is
 * not a map, or has sections, is returned unchanged. Format: ECMA-426.
 */
export function thinMap(map: string, places: readonly ScriptPlace[], stackText: string): string {
  const parsed = parse(map);
  const { mappings, sources, sourcesContent } = parsed ?? {};
  if (typeof mappings !== 'string' || !Array.isArray(sources) || !Array.isArray(sourcesContent)) return map;
  const wanted = sourcesAt(mappings, places);
  const named = new Set([...stackText.matchAll(/\/([^/\\\s:()]+):\d/g)].map(([, name]) => name));
  const isNamed = (source: unknown): boolean =>
    typeof source === 'string' && named.has(source.slice(source.lastIndexOf('/') + 1));
  const texts = sourcesContent.map((text, at) => (wanted.has(at) || isNamed(sources[at]) ? text : null));
  return JSON.stringify({ ...parsed, sourcesContent: texts });
}

function parse(map: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(map.replace(/^\)\]\}'[^\n]*\n/, ''));
  } catch {
    return undefined;
  }
}

const digits = new Int8Array(128).fill(-1);
for (let at = 0; at < 64; at++)
  digits['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(at)] = at;
const semicolon = 59;

/** Indexes of the sources to which the places are mapped. */
function sourcesAt(mappings: string, places: readonly ScriptPlace[]): Set<number> {
  const found = new Set<number>();
  const waiting = [...places].sort((a, b) => a.line - b.line || a.column - b.column);
  let next = 0;
  let line = 1;
  let column = 0;
  let source = 0;
  /** Source of the last segment of this line. */
  let last: number | undefined;
  /** A place before this column belongs to the previous segment. */
  const settle = (before: number): void => {
    for (let place = waiting[next]; place; place = waiting[++next]) {
      if (place.line > line || (place.line === line && place.column - 1 >= before)) return;
      if (place.line === line && last !== undefined) found.add(last);
    }
  };
  let field = 0;
  let value = 0;
  let shift = 0;
  for (let at = 0; at <= mappings.length && next < waiting.length; at++) {
    const code = at === mappings.length ? semicolon : mappings.charCodeAt(at);
    const digit = digits[code] ?? -1;
    if (digit >= 0) {
      value += (digit & 31) << shift;
      shift += 5;
      if (digit >= 32) continue;
      const delta = value & 1 ? -(value >> 1) : value >> 1;
      if (field === 0) {
        column += delta;
        settle(column);
        last = undefined;
      } else if (field === 1) {
        source += delta;
        last = source;
      }
      field++;
    } else if (code === semicolon) {
      settle(Number.POSITIVE_INFINITY);
      line++;
      column = 0;
      last = undefined;
    }
    if (digit < 0) field = 0;
    value = 0;
    shift = 0;
  }
  return found;
}
