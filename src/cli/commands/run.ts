/**
 * `agentdump run [options] -- command …`. Reads its own words, because the program's start waits for it: yargs alone
 * would cost 60 ms. Everything else is supervise/run.ts.
 */
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../errors.ts';
import { endLike } from '../../supervise/exit-status.ts';
import { defaultLimits, type RestartLimits, type RestartWish } from '../../supervise/restart-policy.ts';
import { type RunOptions, runSupervised } from '../../supervise/run.ts';
import { note, print } from '../output.ts';

/** When a crash loop is given up; no program's own code, if it follows the conventions (sysexits end at 78). */
const crashLoopCode = 79;
const notStartedCodes: Record<string, number> = { 'not-found': 127, unwritable: 126 };

const help = `Usage: agentdump run [options] -- command …

Runs the command with its own standard streams, signals, exit code and signal, and leaves a bundle when it dies.

  --dir FOLDER            where bundles and sessions live             [$AGENTDUMP_DIR or ./.agentdump]
  --restart WHEN          never, on-failure or always                                          [never]
  --restart-delay MS      first pause; each further one is twice as long                         [200]
  --restart-limit N/S     give up after more than N restarts within S seconds, with exit code 79  [5/60]
  --on-crash-loop CMD     shell command for that case; AGENTDUMP_BUNDLE and AGENTDUMP_RESTARTS are set
  --no-escalate           don't look closer (locals armed) at the run after a crash
  --core                  have the kernel leave a core file at a native death; it holds the memory in the clear
`;

type Reader = (options: RunOptions, value: string) => void;

const valued: Record<string, Reader> = {
  dir: (options, value) => {
    options.dir = resolve(value);
  },
  restart: (options, value) => {
    options.restart.wish = requireOneOf(value, ['never', 'on-failure', 'always'] as const, '--restart');
  },
  'restart-delay': (options, value) => {
    options.restart.firstPauseMs = requireNumber(value, '--restart-delay');
  },
  'restart-limit': (options, value) => Object.assign(options.restart, readLimit(value)),
  'on-crash-loop': (options, value) => {
    options.onCrashLoop = value;
  },
};
const flags: Record<string, (options: RunOptions) => void> = {
  core: (options) => {
    options.core = true;
  },
  'no-escalate': (options) => {
    options.escalate = false;
  },
};

/** Throws AgentdumpError `usage` for wrong words. */
export function readWords(words: readonly string[], environment: NodeJS.ProcessEnv): RunOptions {
  const options: RunOptions = {
    command: [],
    dir: resolve(environment['AGENTDUMP_DIR'] || '.agentdump'),
    restart: { ...defaultLimits },
    core: false,
    escalate: true,
    note,
  };
  let at = 0;
  for (; at < words.length && words[at]?.startsWith('-'); at++) {
    const word = words[at] ?? '';
    if (word === '--') break;
    const [name = '', ...rest] = word.replace(/^--/, '').split('=');
    const read = valued[name];
    if (read) read(options, rest.length ? rest.join('=') : requireValue(words[++at], word));
    else if (flags[name] && !rest.length) flags[name](options);
    else throw usage(`run has no option ${word}`, word);
  }
  options.command = words.slice(words[at] === '--' ? at + 1 : at);
  if (options.command.length === 0) throw usage('the command to run is missing', 'command');
  return options;
}

export async function runWords(words: string[]): Promise<void> {
  if (words[0] === '--help' || words[0] === '-h') {
    print(help);
    return;
  }
  try {
    const { exit, crashLoop } = await runSupervised(readWords(words, process.env));
    if (crashLoop) process.exitCode = crashLoopCode;
    else endLike(exit);
  } catch (error) {
    const code = error instanceof AgentdumpError ? notStartedCodes[error.code] : undefined;
    if (code === undefined) throw error;
    note((error as Error).message);
    process.exitCode = code;
  }
}

function readLimit(value: string): Pick<RestartLimits, 'most' | 'windowMs'> {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,6})$/.exec(value) ?? [];
  if (!most || !seconds)
    throw usage(`--restart-limit wants N/S, such as 5/60, not ${value}`, '--restart-limit');
  return { most: Number(most), windowMs: Number(seconds) * 1000 };
}

function requireOneOf<T extends RestartWish>(value: string, allowed: readonly T[], argument: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw usage(`${argument} is ${allowed.join(', ')}, not ${value}`, argument);
  return found;
}

function requireNumber(value: string, argument: string): number {
  if (!/^\d{1,8}$/.test(value)) throw usage(`${argument} wants milliseconds, not ${value}`, argument);
  return Number(value);
}

function requireValue(value: string | undefined, argument: string): string {
  if (value === undefined || value === '--') throw usage(`${argument} wants a value`, argument);
  return value;
}

function usage(message: string, argument: string): AgentdumpError {
  return new AgentdumpError('usage', message, { argument });
}

/** For `agentdump --help` and its suggestions; the words go to `runWords`. */
const command: CommandModule = {
  command: 'run',
  describe: 'Run a program under a supervisor that explains its death and can start it again',
  handler: () => {},
};
export default command;
