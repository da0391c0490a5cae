/**
 * Finds the command, parses its arguments strictly, and turns any error into one line on stderr and an exit code. Contains no
 * command names (see registry.ts) and prints no results.
 */
import { readFileSync } from 'node:fs';
import type { Argv, FallbackCompletionFunction } from 'yargs';
import { AgentdumpError } from '../errors.ts';
import { quoteWords } from '../platform/paths.ts';
import { adviceFor } from './advice.ts';
import { examplesOf, exampleText } from './examples.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { endOnStdoutError, note, print, stdoutColumns } from './output/output.ts';
import { startProgress } from './output/progress.ts';
import { type CommandEntry, commands } from './registry.ts';
import { meantText } from './suggest.ts';

export const completionCommand = 'completion';
const completedShells = ['bash', 'zsh'];

type AnyCommand = Awaited<ReturnType<CommandEntry['load']>>['default'];

/** Runs one command line. A command whose result is more than success sets `process.exitCode` itself. */
export async function runFromShell(given: string[]): Promise<void> {
  endOnStdoutError();
  const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  try {
    const entry = commands.find(({ name }) => name === words[0]);
    if (entry?.ownHelp && (words[1] === '--help' || words[1] === '-h'))
      return print(`${await entry.ownHelp()}\n${exampleText(entry.name)}`);
    const lean = await entry?.loadLean?.();
    const withYargs = async () => {
      const stop = startProgress(words[0]);
      try {
        await runCommandLine(words, commands);
      } finally {
        stop();
      }
    };
    await (lean ? lean.runWords(words.slice(1), withYargs) : withYargs());
  } catch (error) {
    endFailed(error);
  }
}

/** Prints one line on stderr and sets the exit code. */
export function endFailed(thrown: unknown): void {
  const error = asOwnClass(thrown);
  process.exitCode = exitCodeOf(error);
  reportFailure(error);
}

/** The bundle that the build makes of start.ts contains its own copy of the error class. */
function asOwnClass(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'AgentdumpError' || error instanceof AgentdumpError)
    return error;
  const { code, message, details } = error as AgentdumpError;
  return new AgentdumpError(code, message, details, error);
}

/**
 * Like `runFromShell` without the shell: throws what the command threw, and an AgentdumpError `usage` for invalid arguments.
 */
export async function runCommandLine(given: string[], table: readonly CommandEntry[]): Promise<void> {
  const words = given[0] === completionCommand ? withChosenShell(given) : given;
  // A completion request of a shell contains the program's name and the words of the line that is completed.
  const isCompletion = words[0] === '--get-yargs-completions';
  const name = isCompletion ? words[2] : words[0];
  if (name !== completionCommand && !isCompletion) requireKnown(words, table);
  const ownOptions = isCompletion ? await ownOptionsOf(table.find((entry) => entry.name === name)) : [];
  const completeWithOwn: FallbackCompletionFunction = (_line, _words, complete, done) =>
    complete((_error, found = []) => done([...found, ...ownOptions]));
  const { default: yargs } = await import('./yargs.ts');
  const parser = yargs(words)
    .scriptName('agentdump')
    .usage(
      'Usage: $0 <command>\n\nCrash capture and post-mortem analysis for Node.js programs and AI agents.',
    )
    .locale('en')
    .parserConfiguration({ 'populate--': true })
    .wrap(Math.min(100, stdoutColumns()))
    .version(ownVersion())
    .help()
    .alias({ help: 'h', version: 'v' })
    .completion(completionCommand, 'Print a completion script for bash or zsh', completeWithOwn)
    .strict()
    .strictCommands()
    .demandCommand(1, 'A command is missing.')
    .exitProcess(false)
    .fail((message, error) => {
      throw asFailure(message, error, reached, unknownOption(words, optionsOf(yargs(), reached)));
    });
  let reached: AnyCommand | undefined;
  for (const entry of table) {
    // A command that is registered without its module still appears in --help and in suggestions.
    if (entry.name === name) {
      reached = (await entry.load()).default;
      parser.command(withExamples(reached, entry.name));
    } else parser.command(entry.name, entry.describe);
  }
  await parser.parseAsync();
}

/** `completion zsh`, as most commands have it. yargs only looks at the shell's own variables. */
function withChosenShell([command = '', shell, ...rest]: string[]): string[] {
  if (shell === undefined || shell.startsWith('-')) return [command, ...(shell ? [shell] : []), ...rest];
  if (!completedShells.includes(shell))
    throw new AgentdumpError('usage', `there is no completion script for ${shell}, only for bash and zsh`);
  process.env['SHELL'] = shell;
  if (shell !== 'zsh') delete process.env['ZSH_NAME'];
  return [command, ...rest];
}

/** yargs only shows examples that the command's own builder adds. */
function withExamples(command: AnyCommand, name: string): AnyCommand {
  const builder = (argv: Argv): Argv => {
    addOptions(argv, command);
    for (const [words, about] of examplesOf(name)) argv.example(`$0 ${words}`, about);
    return argv;
  };
  return { ...command, builder };
}

function addOptions(argv: Argv, { builder }: AnyCommand): void {
  if (typeof builder === 'function') builder(argv);
  else if (builder) argv.options(builder);
}

/** The options of a command that yargs doesn't know, from its help. */
async function ownOptionsOf(entry: CommandEntry | undefined): Promise<string[]> {
  return [...new Set((await entry?.ownHelp?.())?.match(/--[a-z][a-z-]*/g))];
}

/** yargs passes a message for invalid arguments, and an error (with or without a message) for what a handler threw. */
function asFailure(
  message: string | undefined,
  error: Error | undefined,
  command: AnyCommand | undefined,
  unknown?: string,
): Error {
  if (error && error.name !== 'YError') return error;
  // An unknown option swallows the word after it, so that word is not what is missing.
  if (unknown !== undefined) return new AgentdumpError('usage', unknown);
  const [, got, wanted] =
    /^Not enough non-option arguments: got (\d+), need at least (\d+)/.exec(message ?? '') ?? [];
  if (wanted !== undefined) return missingArguments(command, Number(got), Number(wanted));
  const [, plural, more] = /^Unknown (?:command|argument)(s?): (.*)/s.exec(message ?? '') ?? [];
  if (more !== undefined && command) return surplusArguments(command, plural === 's', more);
  return new AgentdumpError('usage', message ?? error?.message ?? 'the command line is not understood');
}

/** `one argument too many, b: agentdump analyze <bundle>`. `more` is yargs' list of them; an argument may have a comma too. */
function surplusArguments(command: AnyCommand, areMany: boolean, more: string): Error {
  const [line = ''] = [command.command ?? ''].flat();
  const what = areMany ? 'too many arguments' : 'one argument too many';
  return new AgentdumpError('usage', `${what}, ${more}: agentdump ${line}`);
}

/** `the argument <bundle> is missing: agentdump analyze <bundle>`. */
function missingArguments(command: AnyCommand | undefined, got: number, wanted: number): Error {
  const line = [command?.command ?? ''].flat()[0] ?? '';
  const names = (line.match(/[<[][^>\]]+[>\]]/g) ?? []).slice(got, wanted);
  const text = names.length ? names.join(' and ') : `of ${wanted}, number ${got + 1}`;
  const verb = names.length > 1 ? 'arguments' : 'argument';
  const usage = line ? `: agentdump ${line}` : '';
  const newest = names.includes('<bundle>') ? ' (latest: the newest bundle here)' : '';
  return new AgentdumpError(
    'usage',
    `the ${verb} ${text} ${names.length > 1 ? 'are' : 'is'} missing${usage}${newest}`,
  );
}

/** Names of the command's options, from its own builder: the parser has discarded them by the time it fails. */
function optionsOf(probe: Argv, command: AnyCommand | undefined): ReadonlySet<string> {
  if (command) addOptions(probe, command);
  return new Set(Object.keys((probe as unknown as { getOptions(): { key: object } }).getOptions().key));
}

/** The first word that looks like an option and is unknown, with a suggestion. */
function unknownOption(words: readonly string[], known: ReadonlySet<string>): string | undefined {
  const end = words.indexOf('--');
  for (const word of words.slice(0, end < 0 ? words.length : end)) {
    const name = /^--(?:no-)?([^=]+)/.exec(word)?.[1];
    if (name !== undefined && !known.has(name))
      return `there is no option ${word}${meantText(name, known, '--')}`;
  }
  return undefined;
}

/** What is no command is reported before its arguments are parsed, with the order that is meant if an option comes first. */
function requireKnown(words: readonly string[], table: readonly CommandEntry[]): void {
  const [word] = words;
  const names = table.map(({ name }) => name);
  if (word === undefined || names.includes(word) || /^(?:-h|-v|--help|--version)$/.test(word)) return;
  if (!word.startsWith('-')) {
    const meant = isBundleWord(word) ? `; did you mean agentdump analyze ${word}?` : meantText(word, names);
    throw new AgentdumpError('usage', `there is no command ${word}${meant}`);
  }
  const at = words.findIndex((other) => names.includes(other));
  if (at < 0) return;
  const meant = quoteWords([words[at] as string, ...words.slice(0, at), ...words.slice(at + 1)]);
  throw new AgentdumpError('usage', `options come after the command: agentdump ${meant}`);
}

/** What `analyze` is given most often, and is never the name of a command. */
const isBundleWord = (word: string): boolean => word === 'latest' || /\.agentdump(?:\.zip)?\/?$/.test(word);

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

function reportFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (process.exitCode === exitCodes.internal) {
    const where = /\n\s+at .*/.exec((error as Error)?.stack ?? '')?.[0].trim() ?? '';
    note(`internal error: ${message} ${where}`);
    note('This is a fault of agentdump, not of your program. The bundle is unchanged.');
  } else {
    note(message);
    const advice = error instanceof AgentdumpError ? adviceFor(error) : undefined;
    if (advice) note(advice);
  }
}
