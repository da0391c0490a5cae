/**
 * Restores original function names that a minifier has shortened. The declaration of the function that V8 names is found in
 * the generated text (js-scopes.ts), and the map leads from there to the original name. A name is only replaced if the
 * declaration has exactly the name that V8 printed, so that a wrong guess changes nothing.
 */
import type { JoinedFrame } from './align.ts';
import { findEnclosingScopes, type Scope } from './js-scopes.ts';
import { beginsMapping } from './lookup.ts';
import type { PlacedFrame } from './placed-frame.ts';
import { isShifted } from './redacted-text.ts';
import type { ScriptMap, ScriptText } from './script-text.ts';

/** Sets the original names of the frames of one stack, top first. */
export function restoreNames(placed: readonly PlacedFrame[]): void {
  const byMap = new Map<ScriptMap, number[]>();
  for (const [index, { map, text, name, frame, sourceLines }] of placed.entries()) {
    if (!map || !text || !name || !frame.generated || isInSource(name, sourceLines)) continue;
    // After a placeholder, or where a placeholder replaced several lines, offsets in the text don't match the map.
    if (isShifted(text.lines, frame.generated) || text.lines.length < map.reader.mappedLines) continue;
    byMap.set(map, [...(byMap.get(map) ?? []), index]);
  }
  for (const [map, indexes] of byMap) {
    const own = indexes.map((index) => placed[index] as PlacedFrame);
    const found = findOriginalNames(own.map(namedPosition), own[0]?.text as ScriptText, map);
    for (const [n, { frame, joined, name = '' }] of own.entries()) {
      const renamed = found[n] ?? nameByCaller(name, placed[(indexes[n] as number) + 1]);
      if (renamed) frame.function = displayName(joined, renamed) as string;
    }
  }
}

/** The name to display, `new Agent` or `run [as start]`; with `renamed` instead of V8's name. */
export function displayName({ text, raw }: JoinedFrame, renamed?: string): string | undefined {
  if (!text) return renamed ?? (raw?.functionName || undefined);
  const name = renamed ?? text.functionName;
  if (text.location.kind === 'promise' && name) return `${name} (index ${text.location.index})`;
  if (text.location.kind === 'wasm' && !name) return `wasm-function[${text.location.functionIndex}]`;
  if (!name || name === '<anonymous>') return undefined;
  return `${text.construct ? 'new ' : ''}${name}${text.alias && !renamed ? ` [as ${text.alias}]` : ''}`;
}

function namedPosition({ frame, joined, name = '' }: PlacedFrame): NamedPosition {
  const { line = 1, column = 1 } = frame.generated ?? {};
  return { name, construct: joined.text?.construct ?? false, line, column };
}

/** A name of at least 4 characters that also occurs in the source was not shortened. */
function isInSource(name: string, sourceLines: readonly string[] | undefined): boolean {
  return name.split(/[. ]/).every((part) => {
    if (part === 'get' || part === 'set') return true;
    return part.length >= 4 && (sourceLines?.some((line) => line.includes(part)) ?? false);
  });
}

/**
 * The original name at the call site in the caller's source; only valid if the generated text has `name` at that position.
 */
function nameByCaller(name: string, caller: PlacedFrame | undefined): string | undefined {
  const at = caller?.frame.generated;
  if (!caller?.map || !caller.text || !at || caller.frame.async) return undefined;
  const there = wordAt(caller.text.lines[at.line - 1] ?? '', at.column - 1);
  const original = there === name ? caller.map.reader.findOriginal(at.line, at.column)?.name : undefined;
  return original !== undefined && isIdentifier(original) ? original : undefined;
}

interface NamedPosition {
  /** As V8 printed it: `method`, `Class.method`. */
  name: string;
  construct: boolean;
  /** 1-based, in the generated text. */
  line: number;
  column: number;
}

/** Longer texts are not searched, and keep the shortened names. */
const longestText = 32 * 1024 * 1024;

/** The original names of functions of one script, in the given order; undefined if the name doesn't change. */
function findOriginalNames(
  positions: readonly NamedPosition[],
  text: ScriptText,
  map: ScriptMap,
): (string | undefined)[] {
  if (text.text.length > longestText) return positions.map(() => undefined);
  const starts = lineStarts(text.text);
  const offsets = positions.map(({ line, column }) => (starts[line - 1] ?? 0) + column - 1);
  const order = [...offsets.keys()].sort((a, b) => (offsets[a] as number) - (offsets[b] as number));
  const scopes = findEnclosingScopes(
    text.text,
    order.map((index) => offsets[index] as number),
  );
  const names: (string | undefined)[] = positions.map(() => undefined);
  const nameOf = (scope: Scope) => originalNameOf(scope, starts, text, map);
  for (const [rank, index] of order.entries())
    names[index] = rename(positions[index] as NamedPosition, scopes[rank] as Scope[], nameOf);
  return names;
}

interface OriginalName {
  name: string;
  /** True if the source declares a function at that place that doesn't belong to an object. */
  isFunction: boolean;
}

function rename(
  { name, construct }: NamedPosition,
  scopes: readonly Scope[],
  nameOf: (scope: Scope) => OriginalName | undefined,
): string | undefined {
  const owners = name.split('.');
  const method = owners.pop() as string;
  const own = scopes.findIndex((scope) => scope.kind === 'function');
  const declared = scopes[own];
  if (!declared) return undefined;
  const around = scopes.slice(own + 1).find((scope) => scope.kind === 'class');
  const className = (short: string | undefined) =>
    around && around.name === short ? (nameOf(around)?.name ?? short) : undefined;
  if (construct && declared.name === 'constructor') return className(method);
  if (declared.name === '' || declared.name !== method.replace(/^(?:get|set) /, '')) return undefined;
  const found = nameOf(declared);
  const owner = className(owners.at(-1));
  // `exports.Agent.run` is shown as `Agent.run`, and `exports.parse` as the function's own name.
  const kept = owner !== undefined ? [owner] : found?.isFunction ? [] : owners;
  const renamed = [...kept, method.replace(declared.name, () => found?.name ?? declared.name)].join('.');
  return renamed === name ? undefined : renamed;
}

/** By the map's own names; otherwise from the source text, if a mapping begins at the name or the words are equal. */
function originalNameOf(
  { name, nameOffset }: Scope,
  starts: readonly number[],
  text: ScriptText,
  map: ScriptMap,
): OriginalName | undefined {
  if (nameOffset < 0) return undefined;
  const row = rowOf(starts, nameOffset);
  const column = nameOffset - (starts[row] as number) + 1;
  if (isShifted(text.lines, { line: row + 1, column })) return undefined;
  const original = map.reader.findOriginal(row + 1, column);
  if (!original) return undefined;
  const line = map.linesOf(original.source)?.[original.line - 1] ?? '';
  const declared = readDeclaration(line.slice(original.column - 1, original.column + 199));
  if (original.name !== undefined && isIdentifier(original.name))
    return { name: original.name, isFunction: declared.isFunction && declared.name === original.name };
  const isOwn = declared.name === name || beginsMapping(map.reader, row + 1, column, original);
  return isOwn && isIdentifier(declared.name) ? declared : undefined;
}

/** The name that a piece of source text declares or begins with; empty if it begins with none. */
function readDeclaration(source: string): OriginalName {
  const words =
    /^(?:(?:export|default|async|static|public|private|protected|function|class|const|let|var)\b\s*|\*\s*)*/;
  const keywords = words.exec(source)?.[0] ?? '';
  return { name: wordAt(source, keywords.length), isFunction: /\bfunction\b/.test(keywords) };
}

function wordAt(line: string, column: number): string {
  const word = /[#$_\p{ID_Start}][$\p{ID_Continue}]{0,200}/uy;
  word.lastIndex = column;
  return word.exec(line)?.[0] ?? '';
}

const isIdentifier = (text: string): boolean => text !== '' && wordAt(text, 0) === text;

/** Offsets of line starts, counting lines as JavaScript does. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const found of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(found.index + found[0].length);
  return starts;
}

function rowOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
