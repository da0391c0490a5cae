/**
 * Parses the options of `agentdump run` without yargs, because they delay the program's start, and yargs alone would cost 60
 * ms.
 */
import { resolve } from 'node:path';
import { folderFor } from '../../platform/watched-folder.ts';
import { defaultHealth } from '../../supervise/health/limits.ts';
import { defaultLimits, type RestartLimits } from '../../supervise/run/restart-policy.ts';
import type { RunOptions } from '../../supervise/run/run-options.ts';
import { readOptionWords, requireOneOf, requireSize, usage } from './option-words.ts';

export const runHelp = `Usage: agentdump run [options] -- command …

Runs a command under a supervisor: passes on streams, signals and the exit status, and writes a bundle when it dies.

  --dir FOLDER             dump folder                                  [$AGENTDUMP_DIR or ./.agentdump]

Restarts
  --restart WHEN           never, on-failure or always                                           [never]
  --restart-delay MS       delay before the first restart; doubles each time                       [200]
  --restart-limit N/S      more than N restarts within S seconds are a crash loop: exit code 79   [5/60]
  --on-crash-loop CMD      shell command to run then, with AGENTDUMP_SIGNATURE, _COUNT, _RESTARTS, _BUNDLE
                           and _VERDICT set
  --resume                 restart on failure, and resume unfinished durable runs
  --no-escalate            don't record more (locals, heap after an out-of-memory) in the run after a crash
  --fresh-state[=FOLDER]   after an out-of-memory, set AGENTDUMP_FRESH_STATE for the next run, and move
                           FOLDER away

Health checks: a failed check writes a bundle; with --restart the program is stopped and restarted
  --health-url URL         must answer with status 200 to 399
  --health-every MS        interval                                                               [2000]
  --health-timeout MS      timeout of one request                                                  [500]
  --health-failures N      consecutive failures that make the program unhealthy                      [3]
  --start-grace MS         time after the start without checks                                   [10000]
  --heartbeat MS           longest time without a journal entry or a touch of $AGENTDUMP_HEARTBEAT_FILE
  --hang MS                longest time that the main thread may block the event loop
  --memory-limit SIZE      largest resident memory; suffix K, M or G
  --stop-grace MS          time from SIGTERM to SIGKILL                                           [5000]

Cores and variables
  --core                   keep the core file of a native crash; it contains the memory unredacted
  --no-core                no core file, and no mini core in the bundle
  --hold                   where no core can be written: stop a faulting program until its memory is read,
                           20 s at most                                                [$AGENTDUMP_HOLD=1]
  --locals core            abort at an uncaught exception and read the variables of every frame from the
                           core; the exit code is still 1

Others
  --ready-file FILE        file that exists while the program is healthy, with its process id
  --no-notify              don't write to $NOTIFY_SOCKET (READY, STATUS, WATCHDOG, STOPPING)
`;

type Reader = (options: RunOptions, value: string, argument: string) => void;

const health = (name: 'everyMs' | 'timeoutMs' | 'startGraceMs' | 'heartbeatMs' | 'hangMs' | 'stopGraceMs') =>
  ((options, value, argument) => {
    options.health[name] = requireNumber(value, argument);
  }) satisfies Reader;

const valued: Record<string, Reader> = {
  dir: (options, value) => {
    options.dir = resolve(value);
  },
  restart: (options, value, argument) => {
    options.restart.wish = requireOneOf(value, ['never', 'on-failure', 'always'] as const, argument);
  },
  'restart-delay': (options, value, argument) => {
    options.restart.firstPauseMs = requireNumber(value, argument);
  },
  'restart-limit': (options, value) => Object.assign(options.restart, readLimit(value)),
  'on-crash-loop': (options, value) => {
    options.onCrashLoop = value;
  },
  'health-url': (options, value, argument) => {
    if (!/^https?:\/\/[^\s]+$/.test(value)) throw usage(`${argument} wants a http or https URL`, argument);
    options.health.url = value;
  },
  'health-every': health('everyMs'),
  'health-timeout': health('timeoutMs'),
  'health-failures': (options, value, argument) => {
    options.health.failures = Math.max(1, requireNumber(value, argument));
  },
  'start-grace': health('startGraceMs'),
  heartbeat: health('heartbeatMs'),
  hang: health('hangMs'),
  'stop-grace': health('stopGraceMs'),
  'memory-limit': (options, value, argument) => {
    options.health.memoryBytes = requireSize(value, argument);
  },
  locals: (options, value, argument) => {
    requireOneOf(value, ['core'] as const, argument);
    options.localsFromCore = true;
  },
  'ready-file': (options, value) => {
    options.readyFile = resolve(value);
    options.announce = true;
  },
};

const flags: Record<string, (options: RunOptions, value?: string) => void> = {
  core: (options) => {
    options.core = 'keep';
  },
  'no-core': (options) => {
    options.core = 'off';
  },
  hold: (options) => {
    options.hold = true;
  },
  resume: (options) => {
    options.resume = true;
    if (options.restart.wish === 'never') options.restart.wish = 'on-failure';
  },
  'no-escalate': (options) => {
    options.escalate = false;
  },
  'no-notify': (options) => {
    options.announce = options.readyFile !== undefined;
    options.notifies = false;
  },
  'fresh-state': (options, value) => {
    options.freshState = value === undefined ? {} : { folder: resolve(value) };
  },
};
/** Flags that may have a value after `=`. */
const optional = new Set(['fresh-state']);

/** Throws AgentdumpError `usage` for invalid options. */
export function readWords(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  note: (text: string) => void,
): RunOptions {
  const notifies = Boolean(environment['NOTIFY_SOCKET']);
  const options: RunOptions = {
    command: [],
    dir: resolve(environment['AGENTDUMP_DIR'] || '.agentdump'),
    restart: { ...defaultLimits },
    health: { ...defaultHealth },
    // A user who wants nothing unencrypted on the disk does not want a core there even for a second.
    core: environment['AGENTDUMP_RECIPIENT'] ? 'off' : 'digest',
    localsFromCore: false,
    escalate: true,
    announce: notifies,
    notifies,
    countsStarts: Boolean(environment['AGENTDUMP_STORE']),
    note,
  };
  options.command = readOptionWords(words, options, { valued, flags, optional }, 'run');
  if (options.command.length === 0) throw usage('the command to run is missing', 'command');
  if (options.core === 'keep' && environment['AGENTDUMP_RECIPIENT'])
    throw usage('--core keeps memory in the clear, which AGENTDUMP_RECIPIENT rules out', '--core');
  if (options.localsFromCore && options.core === 'off')
    throw usage('--locals core needs the core that --no-core or encryption rules out', '--locals');
  // The variable may be set for many programs: if it can't be honoured, the program runs without it.
  options.localsFromCore ||= environment['AGENTDUMP_LOCALS'] === 'core' && options.core !== 'off';
  options.hold ||= environment['AGENTDUMP_HOLD'] === '1';
  options.dir = folderFor(options.command, options.dir);
  return options;
}

function readLimit(value: string): Pick<RestartLimits, 'most' | 'windowMs'> {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,6})$/.exec(value) ?? [];
  if (!most || !seconds)
    throw usage(`--restart-limit wants N/S, such as 5/60, not ${value}`, '--restart-limit');
  return { most: Number(most), windowMs: Number(seconds) * 1000 };
}

function requireNumber(value: string, argument: string): number {
  if (!/^\d{1,8}$/.test(value)) throw usage(`${argument} wants a whole number, not ${value}`, argument);
  return Number(value);
}
