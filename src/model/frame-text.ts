/** Short names of frames and files, and which of a frame's variables tell most: the same in all verdicts and reports. Pure. */

import { below, isInstalled } from '../platform/paths.ts';
import type { Frame, LocalVariable, Thread } from './thread.ts';

/** In the name of a C++ function, signs that belong to the name instead of enclosing something. */
const pieces = /\boperator(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?) ?|->|[\s\S]/g;

type Placed = Pick<Frame, 'function' | 'file' | 'line' | 'column'>;

/** `file:line:column`; the file is relative to the program's folder if it is inside. */
export function placeOf(frame: Placed, cwd?: string): string | undefined {
  if (frame.file === undefined) return undefined;
  const file = shortFile(frame.file, cwd);
  if (frame.line === undefined) return file;
  return frame.column === undefined ? `${file}:${frame.line}` : `${file}:${frame.line}:${frame.column}`;
}

/** `planNextStep (src/agent.ts:42:17)`. */
export function frameText(frame: Placed, cwd?: string): string {
  const place = placeOf(frame, cwd);
  const name = frame.function;
  if (name && place) return `${name} (${place})`;
  return name ?? place ?? 'an unknown place';
}

export function shortFile(file: string, cwd?: string): string {
  const path = file.replace(/^file:\/\/(?:\/(?=[A-Za-z]:\/))?/, '');
  return (cwd && below(cwd, path)) || path;
}

/** Shortens a path by removing leading folders, never the file name: `…/lib/settings.mjs:3`. */
export function endOfPath(path: string, most: number): string {
  let end = path;
  while (end.length > most) {
    const next = end.indexOf('/', end.startsWith('…/') ? 2 : 1);
    if (next < 0) break;
    end = `…${end.slice(next)}`;
  }
  return end;
}

/**
 * The worker threads that ran code. Idle ones have no frames of JavaScript; stacks that were read from memory begin with the native
 * frames, in which a worker may wait too (`Atomics.wait`).
 */
export function workersInCode(threads: readonly Thread[] = []): Thread[] {
  return threads.filter(
    ({ kind, frames }) => kind === 'worker' && culpritFrame(frames)?.line !== undefined && !waits(frames[0]),
  );
}

/** The functions of libc in which an idle thread is. */
const waits = (frame: Frame | undefined): boolean =>
  /^(?:epoll_p?wait|syscall|__futex|pthread_cond|__?(?:poll|select|read|recv|wait)|clock_nanosleep)/.test(
    frame?.function ?? '',
  );

/**
 * The frame that a person would open first: the topmost frame of the program, otherwise of a package, otherwise the first
 * with a position, but never our own preload. A program may itself be installed as a package, such as a test runner: what it
 * runs comes before it.
 */
export function culpritFrame(frames: readonly Frame[] | undefined): Frame | undefined {
  const placed = frames?.filter(({ file }) => file !== undefined && !isOfPreload(file));
  const own = placed?.filter((f) => f.inApp);
  return (
    own?.find(({ file }) => file !== undefined && !isInstalled(file)) ??
    own?.[0] ??
    placed?.find((f) => !isOfNode(f)) ??
    placed?.[0]
  );
}

/** Whether the code is Node's own, or has no file at all. */
export function isOfNode({ file }: Pick<Frame, 'file'>): boolean {
  return file === undefined || file.startsWith('node:');
}

/** The two halves of our preload have suffixes; scripts that it generates have an `agentdump:` name. */
const preload =
  /^agentdump:|[\\/]register(?:-tests)?\.cjs:[a-z]+-half$|[\\/]dist[\\/]register(?:-tests)?\.cjs$/;

export const isOfPreload = (file: string): boolean => preload.test(file);

/** Whether the code is Node's own, or that of our preload, which wraps functions of Node. */
export const isOfRuntime = (frame: Pick<Frame, 'file'>): boolean =>
  isOfNode(frame) || isOfPreload(frame.file ?? '');

/**
 * Whether a frame is foreign and has no further information; consecutive ones are collapsed. If no frame belongs to the
 * program, the frames of packages are the most informative, and in a native stack every frame may matter.
 */
export function isPlainForeign(frame: Frame, hasOwn: boolean): boolean {
  if (frame.inApp || frame.locals?.length || frame.address !== undefined) return false;
  return hasOwn || isOfNode(frame);
}

/**
 * Without parameters, template arguments and the type of the result: `void a::b<int>::c<x>(y) const` → `a::b::c`. Returned
 * unchanged if it has no parameters: then it is no C++ name. Also if the name is within the type of the result, as that of a function
 * which returns a pointer to a function: `void (*foo(int))(char)`.
 */
export function bareNativeName(name: string): string {
  if (!name.includes('(')) return name;
  let bare = '';
  let depth = 0;
  const plain = name.replace(/^decltype\(auto\) /, '').replaceAll('(anonymous namespace)', '{anonymous}');
  for (const { 0: piece, index } of plain.matchAll(pieces)) {
    if (depth === 0 && piece === '(' && bare !== '') {
      if (!bare.endsWith(' ')) break;
      if (inPointer.test(plain.slice(index, index + 200))) return name;
    }
    if (piece === '<' || piece === '(') depth++;
    else if (piece === '>' || piece === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) bare += piece.trimEnd() || piece;
  }
  const own = /(?:\S*\boperator .*|\S+)$/.exec(bare.trim())?.[0];
  return own === undefined || noName.test(own) ? name : own;
}

/** `(*` and `(&`, and `(a::B::*`, a pointer to a member. */
const inPointer = /^\((?:[\w:]+::)?[*&]/;
const noName =
  /^(?:decltype|auto|void|bool|char|char(?:8|16|32)_t|wchar_t|short|int|long|signed|unsigned|float|double)?$/;

const ownScopes = new Set(['local', 'argument', 'arguments', 'this', 'block', 'catch', 'eval']);

/** The frame's own variables, and those of enclosing scopes. If none is known to be its own, all of them count as such. */
export function byScope(locals: readonly LocalVariable[]): {
  own: readonly LocalVariable[];
  outer: readonly LocalVariable[];
} {
  const own = locals.filter(({ scope }) => ownScopes.has(scope));
  return own.length
    ? { own, outer: locals.filter(({ scope }) => !ownScopes.has(scope)) }
    : { own: locals, outer: [] };
}

const mostHeadChars = 512;

/**
 * True for a function or a class: `ƒ settle (req)`, or its source, which bundles of earlier versions have. (Of a method, only
 * a line break tells it from `Buffer(5) {0: 104, …}`.)
 */
export function isFunctionText(value: string): boolean {
  return /^(?:ƒ |(?:async\s+)?(?:function\b|class\b|\([^()]*\)\s*=>|[\w$]+\s*=>|\*?[\w$]+\s*\([^()]*\)\s*\{[ \t]*\n))/.test(
    value,
  );
}

/** True also for an object of which the debugger shows mostly functions, as of an imported module. */
export function isCode(value: string): boolean {
  const shown = /^[\w$]+ \{(.*?),? ?…?\}$/.exec(value)?.[1]?.split(', ') ?? [];
  const functions = shown.filter((property) => property.endsWith(': ƒ'));
  return isFunctionText(value) || functions.length > shown.length / 2;
}

/** The first line of a function's source as a debugger shows it: `ƒ settle (req)`. */
export function functionHead(source: string): string {
  const [line = ''] = source.slice(0, mostHeadChars).split('\n', 1);
  const head = line.trimEnd().replace(/\{$/, '').trimEnd();
  return /^(?:ƒ|class) /.test(head) ? head : `ƒ ${head.replace(/^(async )?function\b ?/, '$1')}`;
}
