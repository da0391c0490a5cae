/**
 * Identifies which deaths are the same. The parts are human-readable; their hash is the id. Whatever differs between two
 * deaths is omitted (pids, ids, addresses, times, roots of paths, lines and columns), so that the same fault has the same
 * signature on every machine and in the next release. A change of the rules requires a new version.
 */
import { createHash } from 'node:crypto';
import type { Account, ErrorFacts, Signature } from '../model/account.ts';
import type { Frame } from '../model/thread.ts';
import { normaliseMessage } from './message-form.ts';
import { templateOf } from './message-template.ts';
import { frameParts, minifiedPart, stableFile } from './signature-frames.ts';

export const signatureVersion = 8;
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
  const frames = tellingFrames(error) ?? account.threads?.find((t) => t.crashed)?.frames ?? [];
  const places = withoutFrames.has(verdict.kind)
    ? []
    : frameParts(
        frames,
        { roots: rootsOf(account), main: process?.argv?.[1] },
        { isOverflow: isStackOverflow(error), site: templateOf(error?.message ?? '', frames)?.frame },
      );
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
  const message = messageForm(error);
  if (message) parts.push(`message:${message}`);
  const root = rootOf(error);
  if (root && root !== error) parts.push(`cause:${root.name ?? 'thrown value'} ${messageForm(root)}`);
  return parts;
}

/** Errors of the language and of Node quote names of the code. What a program quotes is mostly data: a state, a city, a key. */
const quotesCode = /^(?:Type|Reference|Syntax|Range|Eval)Error$/;
/** Also where the program gave the engine's words to an error of its own. */
const wordsOfEngine = /^Cannot (?:read|set|destructure|access|assign|delete|redefine|add) |^Identifier '/;
const codeOfNode = /^(?:ERR_|MODULE_NOT_FOUND$|E[A-Z]+$)/;

function messageForm({ name = '', code, message = '', frames = [] }: ErrorFacts): string {
  const form = normaliseMessage(templateOf(message, frames)?.text ?? message).replace(
    /(["'`])<value>\1/g,
    '<value>',
  );
  if (quotesCode.test(name) || wordsOfEngine.test(message) || codeOfNode.test(String(code ?? '')))
    return form;
  return form.replace(/(?<![\w])(["'`])[\w$.-]{1,60}\1(?![\w])/g, '<value>');
}

/** The longest root first, from the program's packages and its working directory. */
function rootsOf({ process, modules }: Omit<Account, 'signature'>): string[] {
  const program = modules?.packages.filter((p) => !p.path.includes('node_modules')).map((p) => p.path) ?? [];
  return [...program, ...(process?.cwd ? [process.cwd] : [])]
    .map((root) => root.replace(/\\/g, '/').replace(/\/+$/, ''))
    .filter(Boolean)
    .sort((a, b) => b.length - a.length);
}

/**
 * The stack of the error or, if nothing of the program is on it, where the program began what failed: newer versions of Node
 * leave out the callers of a request or a timer where older ones name them.
 */
function tellingFrames(error: ErrorFacts | undefined): readonly Frame[] | undefined {
  const own = [error?.frames, error?.begun?.frames, rootOf(error)?.frames].find((frames) =>
    frames?.some(({ inApp, file }) => inApp && file !== undefined),
  );
  return own ?? error?.frames;
}

function rootOf(error: ErrorFacts | undefined): ErrorFacts | undefined {
  let root = error;
  while (root?.cause) root = root.cause;
  return root;
}

/** Which function was the last one before the memory ended is chance. */
const isStackOverflow = (error: ErrorFacts | undefined): boolean =>
  error?.name === 'RangeError' && error.message === 'Maximum call stack size exceeded';
