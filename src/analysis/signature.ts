/**
 * Identifies which deaths are the same. The parts are human-readable; their hash is the id. Whatever differs between two
 * deaths is omitted (pids, ids, addresses, times, roots of paths, lines and columns), so that the same fault has the same
 * signature on every machine and in the next release. A change of the rules requires a new version.
 */
import { createHash } from 'node:crypto';
import type { Account, ErrorFacts, Signature } from '../model/account.ts';
import type { Frame } from '../model/thread.ts';
import { normaliseMessage } from './message-form.ts';

export const signatureVersion = 5;
/** The function that failed and its callers. Frames further down only show how it was reached, which varies. */
const maxFrames = 3;
/** Deaths that are unrelated to the running code: frames would split one group. */
const withoutFrames = new Set(['terminated', 'snapshot']);

/** Whether the error was awaited doesn't matter for the fault. */
const thrownKinds = new Set(['uncaught-exception', 'unhandled-rejection']);

/** Undefined without a verdict. Pure. */
export function computeSignature(account: Omit<Account, 'signature'>): Signature | undefined {
  const { verdict, error, process } = account;
  if (!verdict) return undefined;
  const parts = [`kind:${thrownKinds.has(verdict.kind) ? 'thrown' : verdict.kind}`];
  if (account.signal) parts.push(`signal:${account.signal.name}`);
  if (process?.exit?.code !== undefined && verdict.kind === 'exit') parts.push(`exit:${process.exit.code}`);
  if (error) parts.push(...errorParts(error));
  if (verdict.kind === 'no-progress') parts.push(...standstillParts(account));
  const frames = error?.frames ?? account.threads?.find((t) => t.crashed)?.frames ?? [];
  const places = withoutFrames.has(verdict.kind) ? [] : frameParts(frames, rootsOf(account));
  parts.push(...places);
  // If nothing else distinguishes two programs, their names do.
  const isPlaced = places.length > 0 && places[0] !== minifiedPart;
  if (!isPlaced && (!error || places.length > 0) && process?.argv?.[1])
    parts.push(`program:${stableFile(process.argv[1], rootsOf(account))}`);
  const id = createHash('sha256')
    .update(`${signatureVersion}\n${parts.join('\n')}`)
    .digest('hex')
    .slice(0, 16);
  return { id, version: signatureVersion, parts };
}

/** Who waits for whom, or what repeats; the names are given by the program. */
function standstillParts({ agent }: Omit<Account, 'signature'>): string[] {
  const { waitGraph, loops = [] } = agent ?? {};
  const names = new Map(waitGraph?.nodes.map((node) => [node.id, `${node.kind} ${node.name}`]));
  const [cycle] = waitGraph?.cycles ?? [];
  if (cycle) return cycle.nodes.map((id) => `waits:${normaliseMessage(names.get(id) ?? '')}`).sort();
  const loop = loops.find(({ ongoing }) => ongoing);
  return loop ? loop.calls.map((call) => `loop:${call.replace(/\(.*/s, '')}`) : [];
}

/** Node's message for a rejection with a value that is not an error. */
const rejectedValue = /rejected with the reason "([\s\S]*)"\.?$/;

function errorParts(error: ErrorFacts): string[] {
  const [, reason] =
    (error.code === 'ERR_UNHANDLED_REJECTION' && rejectedValue.exec(error.message ?? '')) || [];
  if (reason !== undefined) return ['error:thrown value', `message:${normaliseMessage(reason)}`];
  const parts = [`error:${error.name ?? 'thrown value'}`];
  if (error.code) parts.push(`code:${error.code}`);
  const message = normaliseMessage(error.message ?? '');
  if (message) parts.push(`message:${message}`);
  let root = error;
  while (root.cause) root = root.cause;
  if (root !== error)
    parts.push(`cause:${root.name ?? 'thrown value'} ${normaliseMessage(root.message ?? '')}`);
  return parts;
}

/** Replaces the frames of minified code, whose names change with each build. */
export const minifiedPart = 'names:minified';

/**
 * The topmost frames of the program or, if there are none, of other code; recursion counts once. Stops at an unnamed callback
 * that was stored and called later (by a queue, an emitter): the frames from there on only show how the fault was reached.
 */
function frameParts(frames: readonly Frame[], roots: string[]): string[] {
  const positioned = frames.filter(isPositioned);
  const isOwn = positioned.some((f) => f.inApp);
  if (isOwn && isMinified(positioned.filter((f) => f.inApp))) return [minifiedPart];
  const candidates = frames.filter((f) => f.file === undefined || (isPositioned(f) && (f.inApp || !isOwn)));
  const named: Frame[] = [];
  for (const [at, frame] of candidates.slice(0, 200).entries()) {
    if (frame.file === undefined) continue;
    if (!namelessCallback.test(nameOf(frame))) named.push(frame);
    else if (named.length > 0 && !isCalledAtOnce(candidates[at + 1])) break;
  }
  const first = candidates.find(isPositioned);
  const parts = (named.length || !first ? named : [first]).map((f) => framePart(f, roots));
  return [...new Set(parts)].slice(0, maxFrames);
}

const isPositioned = ({ file }: Frame): boolean => file !== undefined && !file.startsWith('node:');

/** True for callers such as `Array.map`, which have no file, but not for promise reactions, which run later. */
const isCalledAtOnce = (caller: Frame | undefined): boolean =>
  caller !== undefined && caller.file === undefined && !/^(?:async )?Promise\./.test(caller.function ?? '');

const shortestMinifiedLine = 40;
const mostBlanks = 0.1;
const shortName = /^[\w$]{1,2}(?:\.|$)/;

/**
 * Code without a source map, on one long line almost without white space, whose functions have names of one or two letters.
 */
function isMinified(own: readonly Frame[]): boolean {
  const [top] = own;
  if (!top || top.generated) return false;
  const text = top.source?.find(({ line }) => line === top.line);
  if (!text || (text.lengthChars ?? text.text.length) < shortestMinifiedLine) return false;
  if ((text.text.match(/\s/g)?.length ?? 0) > mostBlanks * text.text.length) return false;
  const names = own.map(nameOf).filter((name) => !namelessCallback.test(name));
  return names.length === 0 || names.some((name) => shortName.test(name));
}

/** Anonymous, or named by V8 or Node after its caller. */
const namelessCallback =
  /^(?:|(?:.*\.)?<anonymous>|(?:Timeout|Immediate|Interval)\.(?:_onTimeout|_onImmediate)|process\.processTicksAndRejections)$/;

function nameOf(frame: Frame): string {
  return (frame.function ?? '')
    .replace(/^(?:async |new )+/, '')
    .replace(/ \[as [^\]]*\]$/, '')
    .replace(/^(?:Object|Function|Module)\./, '');
}

function framePart(frame: Frame, roots: string[]): string {
  const name = nameOf(frame);
  return `frame:${name && name !== '<anonymous>' ? name : '(anonymous)'}@${placeOf(frame.file ?? '', roots)}`;
}

/** Builds move files, so only the file name is used, for an `index` with its folder; paths in packages are kept. */
function placeOf(file: string, roots: string[]): string {
  const path = stableFile(file, roots);
  if (path.startsWith('node_modules/')) return path;
  const names = path.split('/');
  return names.slice(/^index\.[a-z]+$/.test(names.at(-1) ?? '') ? -2 : -1).join('/');
}

/** Relative to the program, or from node_modules on, or only the file name; hashes in bundlers' file names are removed. */
function stableFile(file: string, roots: string[]): string {
  const path = file
    .replace(/^file:\/\//, '')
    .replace(/\\/g, '/')
    .replace(/[?#].*$/, '');
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

/** The longest root first, from the program's packages and its working directory. */
function rootsOf({ process, modules }: Omit<Account, 'signature'>): string[] {
  const program = modules?.packages.filter((p) => !p.path.includes('node_modules')).map((p) => p.path) ?? [];
  return [...program, ...(process?.cwd ? [process.cwd] : [])]
    .map((root) => root.replace(/\\/g, '/').replace(/\/+$/, ''))
    .filter(Boolean)
    .sort((a, b) => b.length - a.length);
}
