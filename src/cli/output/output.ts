/**
 * The two streams: results are written to stdout, progress and notes to stderr, so that `agentdump … | less` and `> file`
 * contain only the result. Decides whether colours are used; the report decides what is coloured.
 */
import { openSync, writeFileSync } from 'node:fs';
import { AgentdumpError } from '../../errors.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../../report/escape-terminal.ts';
import { harmlessJson } from '../../report/json.ts';
import { fitLines, widthOf } from '../../report/text/fit.ts';
import { exitCodes } from '../exit-codes.ts';

export interface ColourWish {
  isTerminal: boolean;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * NO_COLOR decides if it is not empty, even against a FORCE_COLOR that a test runner or a CI service set for all its
 * children; then FORCE_COLOR (0 and false disable); then whether the stream is a terminal. See https://no-color.org.
 */
export function wantsColour({ isTerminal, environment }: ColourWish): boolean {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && environment['TERM'] !== 'dumb';
}

let beforePrint: (() => void) | undefined;

/** Called before anything is printed, so that a progress line can be erased. */
export function onPrint(clear: (() => void) | undefined): void {
  beforePrint = clear;
}

/**
 * Prints a result. Its renderer has escaped what came from a bundle. On a terminal, lines that are longer than it are wrapped if
 * their renderer has not done so.
 */
export function print(text: string): void {
  write(process.stdout.isTTY ? fitTo(stdoutColumns(), text) : text);
}

function write(text: string): void {
  beforePrint?.();
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** A word that is longer than the terminal, such as a link or a path, stays in one piece, so that it can be copied. */
export function fitTo(columns: number, text: string): string {
  const hasLongWord = (line: string): boolean =>
    line.split(' ').some((word) => word.length > columns / 2 && widthOf(word) > columns - 4);
  const lines = text.split('\n').flatMap((line) => {
    const isKept = widthOf(line) <= columns || hasLongWord(line);
    return isKept ? [line] : fitLines([line], columns);
  });
  return lines.join('\n');
}

/** Writes a result to a new file that only its owner can read. Throws `unwritable`. */
export function writeNew(path: string, text: string): void {
  orUnwritable(path, () => writeFileSync(path, text, { flag: 'wx', mode: 0o600 }));
}

/** Like `writeNew`, for writing in pieces. */
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
 * A note for the person at the terminal. It may quote a path or a message from anywhere, so it is escaped here. Ignored if
 * the terminal is closed.
 */
export function note(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  beforePrint?.();
  process.stderr.write(`agentdump: ${defuseWorkflowCommands(escapeTerminal(text))}\n`);
}

/** Prints a result that quotes untrusted text which was not escaped yet. */
export function printForeign(text: string): void {
  print(defuseWorkflowCommands(escapeTerminal(text)));
}

/** Prints a result as one JSON document; what it quotes is escaped for terminals and CI logs. */
export function printJson(value: unknown, indent?: number): void {
  write(harmlessJson(JSON.stringify(value, null, indent)));
}

/** Whether stdout takes colour. */
export function stdoutWantsColour(): boolean {
  return wantsColour({ isTerminal: process.stdout.isTTY === true, environment: process.env });
}

/** Columns of the terminal; 100 for a file or a pipe. */
export function stdoutColumns(): number {
  return process.stdout.columns || 100;
}

/**
 * A reader that closed the pipe (`| head`) has what it wanted: that is success. A full disk is an error, reported in one
 * line.
 */
export function endOnStdoutError(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.explained);
    note(`cannot write the output: ${error.message}`);
    process.exit(exitCodes.usage);
  });
}
