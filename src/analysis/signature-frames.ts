/** Which frames of a stack identify a fault: the function that failed, and the callers that called it by name. Pure. */
import type { Frame } from '../model/thread.ts';
import { callsByName } from './call-site.ts';

/** The function that failed and its callers. Frames further down only show how it was reached, which varies. */
const maxFrames = 3;
const mostRead = 200;

/** Replaces the frames of minified code, whose names change with each build. */
export const minifiedPart = 'names:minified';

/** Where the program's files are. */
export interface ProgramPlace {
  /** The longest first. */
  roots: readonly string[];
  /** The file that was started. */
  main: string | undefined;
}

/** What the error tells of its stack. */
export interface Told {
  /** The stack is a cycle that ended where the memory did. */
  isOverflow: boolean;
  /** Where the words of the message are written: what is below only shows how it was reached. */
  site: Frame | undefined;
}

/**
 * A helper that writes one message for all its callers must not make one fault of theirs: the first function of another file
 * counts. In a bundle without a source map, whose files can't be told apart, the first caller does.
 */
const isTelling = (part: string, [first = '']: readonly string[]): boolean =>
  first === '' || fileOf(part) !== fileOf(first) || fileOf(first) === mainFile;

const fileOf = (part: string): string => part.slice(part.lastIndexOf('@') + 1);

/** The file of functions in the program's main file, which is where a bundler puts those of all files. */
export const mainFile = '(main)';

/**
 * The topmost frames of the program or, if there are none, of other code; recursion counts once. Stops where a function was
 * reached without being named: an unnamed callback that was stored and called later (by a queue, an emitter), or a call of a
 * variable (`handler()`). The frames from there on only show how the fault was reached.
 */
export function frameParts(
  frames: readonly Frame[],
  { roots, main }: ProgramPlace,
  { isOverflow, site }: Told,
): string[] {
  const positioned = frames.filter(isPositioned);
  const isOwn = positioned.some((f) => f.inApp);
  if (isOwn && isMinified(positioned.filter((f) => f.inApp))) return [minifiedPart];
  const candidates = frames
    .filter((f) => f.file === undefined || (isPositioned(f) && (f.inApp || !isOwn)))
    .slice(0, mostRead);
  const partsOf = (some: readonly Frame[]) => some.map((f) => framePart(f, roots, main));
  if (isOverflow) {
    const cycle = repeated(partsOf(candidates.filter(isNamed)));
    if (cycle.length > 0) return cycle.slice(0, maxFrames);
  }
  const named = namedFrames(candidates);
  const first = candidates.find(isPositioned);
  const parts = [...new Set(partsOf(named.length || !first ? named : [first]))];
  const written = site ? parts.indexOf(framePart(site, roots, main)) : -1;
  if (written < 0) return parts.slice(0, maxFrames);
  // Below the first file that counts there is only how the fault was reached.
  const above = parts.slice(0, written + 1);
  const below = parts.slice(written + 1).find((part) => isTelling(part, above));
  return new Set(above.map(fileOf)).size > 1 || below === undefined
    ? above.slice(0, maxFrames)
    : [...above, below].slice(0, maxFrames);
}

function namedFrames(candidates: readonly Frame[]): Frame[] {
  const named: Frame[] = [];
  let callee: Frame | undefined;
  for (const [at, frame] of candidates.entries()) {
    if (frame.file === undefined) continue;
    const isCallback = !isNamed(frame);
    if (named.length > 0 && isCallback && !isCalledAtOnce(candidates[at + 1])) break;
    if (callee && isNamed(callee) && !callsByName(frame, methodOf(callee))) break;
    if (!isCallback) named.push(frame);
    callee = frame;
  }
  return named;
}

/** The functions of the cycle, in an order that does not depend on which of them was the last. */
function repeated(parts: readonly string[]): string[] {
  return [...new Set(parts.filter((part, at) => parts.indexOf(part) !== at))].sort();
}

const isPositioned = ({ file }: Frame): boolean => file !== undefined && !file.startsWith('node:');

const isNamed = (frame: Frame): boolean => frame.file !== undefined && !namelessCallback.test(nameOf(frame));

/** True for callers such as `Array.map`, which have no file, but not for promise reactions, which run later. */
const isCalledAtOnce = (caller: Frame | undefined): boolean =>
  caller !== undefined && caller.file === undefined && !/^(?:async )?Promise\./.test(caller.function ?? '');

const shortestMinifiedLine = 40;
const mostBlanks = 0.1;
/** A longer line was not written by anybody, whatever texts it has. */
const longestWrittenLine = 1_000;
const shortName = /^[\w$]{1,2}(?:\.|$)/;

/**
 * Code without a source map, on one long line almost without white space, whose functions have names of one or two letters.
 */
function isMinified(own: readonly Frame[]): boolean {
  const [top] = own;
  if (!top || top.generated) return false;
  const text = top.source?.find(({ line }) => line === top.line);
  const length = text?.lengthChars ?? text?.text.length ?? 0;
  if (!text || length < shortestMinifiedLine) return false;
  if (length < longestWrittenLine && hasBlanks(text.text)) return false;
  const names = own.map(nameOf).filter((name) => !namelessCallback.test(name));
  return names.length === 0 || names.some((name) => shortName.test(name));
}

const hasBlanks = (text: string): boolean => (text.match(/\s/g)?.length ?? 0) > mostBlanks * text.length;

/** Anonymous, or named by V8 or Node after its caller. */
const namelessCallback =
  /^(?:|(?:.*\.)?<anonymous>|(?:Timeout|Immediate|Interval)\.(?:_onTimeout|_onImmediate)|process\.processTicksAndRejections)$/;

function nameOf(frame: Frame): string {
  return (frame.function ?? '')
    .replace(/^(?:async |new )+/, '')
    .replace(/ \[as [^\]]*\]$/, '')
    .replace(/^(?:Object|Function|Module)\./, '');
}

/** V8 puts the class of the object that it was called on before a name: a subclass, or a class whose name was minified. */
const methodOf = (frame: Frame): string =>
  nameOf(frame).replace(/^(?:[\p{L}\p{N}_$#]+\.)+(?=(?:[gs]et )?[\p{L}\p{N}_$#]+$)/u, '');

function framePart(frame: Frame, roots: readonly string[], main: string | undefined): string {
  const name = methodOf(frame);
  const file = pathOf(frame.file ?? '');
  const place =
    !frame.generated && main !== undefined && file === pathOf(main) ? mainFile : placeOf(file, roots);
  return `frame:${name && name !== '<anonymous>' ? name : '(anonymous)'}@${place}`;
}

const pathOf = (file: string): string =>
  file
    .replace(/^file:\/\//, '')
    .replace(/\\/g, '/')
    .replace(/[?#].*$/, '');

/** Builds move files, so only the file name is used, for an `index` with its folder; paths in packages are kept. */
function placeOf(file: string, roots: readonly string[]): string {
  const path = stableFile(file, roots);
  if (path.startsWith('node_modules/')) return path;
  const names = path.split('/');
  return names.slice(/^index\.[a-z]+$/.test(names.at(-1) ?? '') ? -2 : -1).join('/');
}

/** Relative to the program, or from node_modules on, or only the file name; hashes in bundlers' file names are removed. */
export function stableFile(file: string, roots: readonly string[]): string {
  const path = pathOf(file);
  const below = path.lastIndexOf('node_modules/');
  const root = roots.find((r) => path.startsWith(`${r}/`));
  const short =
    below >= 0
      ? path.slice(below)
      : root !== undefined
        ? path.slice(root.length + 1)
        : path.startsWith('/') || /^[A-Za-z]:\//.test(path)
          ? (path.split('/').at(-1) ?? path)
          : path;
  return short.replace(/([-.])(?=[A-Za-z0-9_]*\d)[A-Za-z0-9_]{8,20}(?=\.[a-z]+$)/, '$1<hash>');
}
