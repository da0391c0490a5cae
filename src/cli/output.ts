/**
 * The two streams: results go to stdout, progress and notes to stderr, so that `agentdump … | less` and `> file` hold
 * the result alone. Knows whether colour is wanted; what is coloured is the report's affair.
 */
import { openSync, writeFileSync } from 'node:fs';
import { AgentdumpError } from '../errors.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../report/escape-terminal.ts';
import { harmlessJson } from '../report/json.ts';
import { exitCodes } from './exit-codes.ts';

export interface ColourWish {
  isTerminal: boolean;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * NO_COLOR decides when it is not empty, also against a FORCE_COLOR that a test runner or a CI service set for all its
 * children; then FORCE_COLOR (0 and false say no); then whether the stream is a terminal. See https://no-color.org.
 */
export function wantsColour({ isTerminal, environment }: ColourWish): boolean {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && environment['TERM'] !== 'dumb';
}

let beforePrint: (() => void) | undefined;

/** Called before anything is printed: a line of progress makes room. */
export function onPrint(clear: (() => void) | undefined): void {
  beforePrint = clear;
}

/** A result. The text is written as it is: whoever rendered it has escaped what came from a bundle. */
export function print(text: string): void {
  beforePrint?.();
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** A result into a file that is not there yet, for its owner's eyes only. Throws `unwritable`. */
export function writeNew(path: string, text: string): void {
  orUnwritable(path, () => writeFileSync(path, text, { flag: 'wx', mode: 0o600 }));
}

/** The same for what is written piece by piece. */
export function openNew(path: string): number {
  return orUnwritable(path, () => openSync(path, 'wx', 0o600));
}

function orUnwritable<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? 'exists' : 'failed';
    throw new AgentdumpError(
      'unwritable',
      `cannot write ${path}: ${(cause as Error).message}`,
      { path, reason },
      cause,
    );
  }
}

/**
 * A note for the person at the terminal; it may quote a path or a message from anywhere, so it is escaped here. Who has gone
 * away, or has closed the terminal, misses it, and that is all.
 */
export function note(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  beforePrint?.();
  process.stderr.write(`agentdump: ${defuseWorkflowCommands(escapeTerminal(text))}\n`);
}

/** A result that quotes what a stranger wrote, and that nobody has escaped. */
export function printForeign(text: string): void {
  print(defuseWorkflowCommands(escapeTerminal(text)));
}

/** A result as one JSON document; what it quotes is harmless to a terminal and in a CI log. */
export function printJson(value: unknown, indent?: number): void {
  print(harmlessJson(JSON.stringify(value, null, indent)));
}

/** Whether stdout takes colour. */
export function stdoutWantsColour(): boolean {
  return wantsColour({ isTerminal: process.stdout.isTTY === true, environment: process.env });
}

/** Columns of the terminal; a file or a pipe gets 100. */
export function stdoutColumns(): number {
  return process.stdout.columns || 100;
}

/** A reader that went away (`| head`) has what it wanted: that is success. A full disk is not: one line says so. */
export function endOnStdoutError(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.explained);
    note(`cannot write the output: ${error.message}`);
    process.exit(exitCodes.usage);
  });
}
