/** Frames with their code: the culprit's source first, then the stack with the program's own frames marked. */

import type { Account } from '../../model/account.ts';
import {
  byScope,
  functionHead,
  isCode,
  isFunctionText,
  isOfNode,
  isPlainForeign,
  placeOf,
  shortFile,
} from '../../model/frame-text.ts';
import { findPlace } from '../../model/place.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import type { Frame, LocalVariable, SourceLine } from '../../model/thread.ts';
import { oneLine, type Page } from './layout.ts';
import { findRuns } from './repeats.ts';

const maxFrames = 40;
const maxLocals = 12;
const maxOuterLocals = 4;
/** Two lines of a usual terminal. */
const maxValueChars = 160;
/** This many consecutive frames of third-party code are folded into one line. */
const foldFrom = 3;

/** Threads whose frames the error does not show. */
export function renderStack({ error, threads, process }: Account, page: Page): string[] {
  return (threads ?? []).flatMap((thread) => {
    if (!thread.frames.length || (thread.crashed && error?.frames?.length)) return [];
    const name =
      typeof thread.id === 'number' && thread.kind !== 'main'
        ? `${thread.kind} thread ${thread.id}`
        : `${thread.kind} thread`;
    return [
      page.palette.faint(oneLine(thread.name ? `${name} (${thread.name})` : name)),
      ...renderFrames(thread.frames, page, process?.cwd),
    ];
  });
}

export function renderPlace(account: Account, page: Page): string[] {
  const lines = renderCodeFrame(findPlace(account), page, account.process?.cwd);
  return lines.length ? ['', ...lines.map((line) => `  ${line}`)] : [];
}

/** The lines around the position, with a caret under it; empty without source. */
export function renderCodeFrame(frame: Frame | undefined, page: Page, cwd?: string): string[] {
  if (!frame?.source?.length) return [];
  const { palette } = page;
  const width = String(frame.source.at(-1)?.line ?? 0).length;
  const lines = [palette.place(placeOf(frame, cwd) ?? '')];
  for (const { line, text, startColumn = 1 } of withoutBlankEnd(frame)) {
    const here = line === frame.line;
    // The account may contain only a part of a long line, so columns count from the start of that part.
    const column = here && frame.column !== undefined ? frame.column - startColumn + 1 : undefined;
    const { shown, offset } = cutAround(text, column, page.columns - width - 10);
    const number = String(line).padStart(width);
    lines.push(
      here
        ? `${palette.bad('❯')} ${palette.strong(number)} │ ${shown}`
        : palette.faint(`  ${number} │ ${shown}`),
    );
    if (column !== undefined)
      lines.push(
        `  ${' '.repeat(width)} │ ${' '.repeat(Math.max(0, Math.min(column - 1 - offset, shown.length)))}${palette.bad('^')}`,
      );
  }
  return lines;
}

/** Removes blank lines below the position. */
function withoutBlankEnd({ source = [], line: position = 0 }: Frame): readonly SourceLine[] {
  const last = source.findLastIndex(({ line, text }) => line <= position || text.trim());
  return source.slice(0, last + 1);
}

/** Cuts a minified line around its column; a tab counts as one column so that the caret is at the right place. */
function cutAround(
  text: string,
  column: number | undefined,
  width: number,
): { shown: string; offset: number } {
  const line = oneLine(text);
  const room = Math.max(20, width);
  if (line.length <= room) return { shown: line, offset: 0 };
  const offset = Math.max(0, Math.min((column ?? 1) - 1 - Math.floor(room / 2), line.length - room));
  const shown = line.slice(offset, offset + room);
  // The ellipsis replaces a character, so the caret's column is unchanged.
  const begun = offset > 0 ? `…${shown.slice(1)}` : shown;
  return { shown: offset + room < line.length ? `${begun.slice(0, -1)}…` : begun, offset };
}

/** Consecutive foreign frames are folded into one line, and so are the turns of a runaway recursion after the first. */
export function renderFrames(all: readonly Frame[], page: Page, cwd?: string): string[] {
  const { palette } = page;
  const frames = withTellingLocals(all);
  const runs = findRuns(frames.map(keyOf));
  const rows = runs.flatMap(({ start, length, times }): Row[] => {
    const turn = frames.slice(start, start + length).map((frame): Row => ({ frame }));
    return times > 1 ? [...turn, { repeats: repeatText(length, times) }] : turn;
  });
  const shown = foldForeign(rows.slice(0, maxFrames));
  const names = shown.flatMap((row) => ('frame' in row ? [nameOf(row.frame).length] : []));
  const nameWidth = Math.min(36, Math.max(0, ...names));
  const lines = shown.flatMap((row) => {
    if ('frame' in row) return renderFrame(row.frame, page, nameWidth, cwd);
    return [palette.faint(`  ${'repeats' in row ? row.repeats : foldText(row.folded)}`)];
  });
  const hidden = rows.length - maxFrames;
  if (hidden > 0) lines.push(palette.faint(`  … ${formatCount(hidden, 'more frame')}`));
  return lines;
}

/** Below the first frame of the program, the variables of foreign code are left out, so that such frames are folded. */
function withTellingLocals(frames: readonly Frame[]): readonly Frame[] {
  const first = frames.findIndex(({ inApp }) => inApp);
  if (first < 0) return frames;
  return frames.map((frame, index) => {
    if (index < first || frame.inApp || frame.locals === undefined) return frame;
    const { locals, ...bare } = frame;
    return bare;
  });
}

type Row = { frame: Frame } | { folded: Frame[] } | { repeats: string };

/** Each frame with variables is worth reading, so it never counts as a repetition. */
const keyOf = (f: Frame, index: number): string =>
  f.locals?.length ? String(index) : `${f.function}\n${f.file}\n${f.line}\n${f.column}`;

function repeatText(length: number, times: number): string {
  return length === 1
    ? `↻ ${formatCount(times - 1, 'more time')}`
    : `↻ these ${length} frames ${formatCount(times - 1, 'more time')}`;
}

function foldForeign(rows: readonly Row[]): Row[] {
  const hasOwn = rows.some((row) => 'frame' in row && row.frame.inApp);
  const result: Row[] = [];
  for (let start = 0; start < rows.length; ) {
    let end = start;
    const run: Frame[] = [];
    for (let row = rows[end]; row && 'frame' in row && isPlainForeign(row.frame, hasOwn); row = rows[++end])
      run.push(row.frame);
    if (run.length >= foldFrom) result.push({ folded: run });
    else result.push(...rows.slice(start, Math.max(end, start + 1)));
    start = Math.max(end, start + 1);
  }
  return result;
}

function renderFrame(frame: Frame, { palette }: Page, nameWidth: number, cwd?: string): string[] {
  const place = placeOf(frame, cwd) ?? frame.module ?? frame.address ?? '';
  const name = nameOf(frame).padEnd(nameWidth);
  const line = frame.inApp
    ? `${palette.bad('●')} ${palette.strong(oneLine(name))}  ${palette.place(oneLine(place))}`
    : palette.faint(`  ${oneLine(name)}  ${oneLine(place)}`);
  return [line.trimEnd(), ...renderLocals(frame.locals ?? []).map((text) => palette.faint(`      ${text}`))];
}

/** Of the enclosing scopes only a few values: a module's own functions and imports are no news. */
function renderLocals(locals: readonly LocalVariable[]): string[] {
  const { own, outer } = byScope(locals);
  const telling = outer.filter(({ value }) => !isCode(value)).slice(0, maxOuterLocals);
  const shown = [...own.slice(0, maxLocals), ...telling];
  const hidden = locals.length - shown.length;
  return [
    ...shown.map(({ name, value }) => `${oneLine(name)} = ${valueText(value)}`),
    ...(hidden > 0 ? [`… ${formatCount(hidden, 'more variable')}`] : []),
  ];
}

const valueText = (value: string): string =>
  clip(oneLine(isFunctionText(value) ? functionHead(value) : value), maxValueChars);

/** Without the parameter types of a C++ name, which are longer than any line. */
function nameOf(frame: Frame): string {
  const full = frame.function ?? '(anonymous)';
  const name = frame.address === undefined ? full : full.replace(/\([^()]*\)(?: const)?$/, '()');
  return frame.async && !name.startsWith('async ') ? `async ${name}` : name;
}

/** `… 5 frames of express, Node`. */
function foldText(frames: readonly Frame[]): string {
  const owners = [...new Set(frames.map(ownerOf))];
  return `… ${formatCount(frames.length, 'frame')} of ${owners.slice(0, 4).join(', ')}${owners.length > 4 ? ', …' : ''}`;
}

function ownerOf(frame: Frame): string {
  if (frame.file === undefined || isOfNode(frame)) return frame.module ?? 'Node';
  const below = frame.file.split('node_modules/').at(-1) ?? '';
  if (below === frame.file) return shortFile(frame.file);
  return (
    frame.module ??
    below
      .split('/')
      .slice(0, below.startsWith('@') ? 2 : 1)
      .join('/')
  );
}
