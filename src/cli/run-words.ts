/**
 * The words of `agentdump run`, read without yargs: the program's start waits for them, and yargs alone would cost
 * 60 ms.
 */
import { resolve } from 'node:path';
import { defaultHealth } from '../supervise/health/limits.ts';
import { defaultLimits, type RestartLimits } from '../supervise/restart-policy.ts';
import type { RunOptions } from '../supervise/run-options.ts';
import { readOptionWords, requireOneOf, requireSize, usage } from './option-words.ts';

export const runHelp = `Usage: agentdump run [options] -- command …

Runs the command with its own standard streams, signals, exit code and signal, and leaves a bundle when it dies.

  --dir FOLDER             where bundles and sessions live              [$AGENTDUMP_DIR or ./.agentdump]

Starting again
  --restart WHEN           never, on-failure or always                                           [never]
  --restart-delay MS       first pause; each further one is twice as long                          [200]
  --restart-limit N/S      give up after more than N restarts within S seconds, with exit code 79 [5/60]
  --on-crash-loop CMD      shell command for that case; AGENTDUMP_SIGNATURE, _COUNT, _RESTARTS, _BUNDLE and
                           _VERDICT are set
  --resume                 restart on failure, and have durable runs without an id go on
  --no-escalate            don't look closer (locals armed, heap after a memory death) at the run after a crash
  --fresh-state[=FOLDER]   after a death for want of memory, set AGENTDUMP_FRESH_STATE for the next run, and put
                           FOLDER aside

Health: on a failure a bundle is taken, and where --restart is wished the program is ended and started again
  --health-url URL         must answer 200 to 399
  --health-every MS        how often it is asked                                                  [2000]
  --health-timeout MS      for each answer                                                         [500]
  --health-failures N      so many in a row are an illness                                           [3]
  --start-grace MS         how long after its start the program may be without answer or sign    [10000]
  --heartbeat MS           how often it must write to its journal, or touch $AGENTDUMP_HEARTBEAT_FILE
  --hang MS                how long its main thread may stay away from its event loop
  --memory-limit SIZE      resident memory; K, M or G may follow
  --stop-grace MS          from SIGTERM to SIGKILL                                                [5000]

Cores and variables
  --core                   keep the kernel's core file of a native death; it holds the memory in the clear
  --no-core                have the kernel leave none: no mini core in the bundle
  --hold                   where the kernel can leave no core: hold a program that faults until its memory is
                           read, at most 20 s                                             [$AGENTDUMP_HOLD=1]
  --locals core            an uncaught throw aborts, and the bundle has the variables of every frame; the exit
                           code is 1 all the same

Others
  --ready-file FILE        is there while the program is well, and holds its process id
  --no-notify              send nothing to $NOTIFY_SOCKET (READY, STATUS, WATCHDOG, STOPPING)
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
/** Flags that may have a value after an equals sign. */
const optional = new Set(['fresh-state']);

/** Throws AgentdumpError `usage` for wrong words. */
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
    // Who wants nothing in the clear on the disk does not want a core there for a second either.
    core: environment['AGENTDUMP_RECIPIENT'] ? 'off' : 'digest',
    localsFromCore: false,
    escalate: true,
    announce: notifies,
    notifies,
    note,
  };
  options.command = readOptionWords(words, options, { valued, flags, optional }, 'run');
  if (options.command.length === 0) throw usage('the command to run is missing', 'command');
  if (options.core === 'keep' && environment['AGENTDUMP_RECIPIENT'])
    throw usage('--core keeps memory in the clear, which AGENTDUMP_RECIPIENT rules out', '--core');
  if (options.localsFromCore && options.core === 'off')
    throw usage('--locals core needs the core that --no-core or encryption rules out', '--locals');
  // A variable may be meant for many programs: where it can't be had, the program runs without.
  options.localsFromCore ||= environment['AGENTDUMP_LOCALS'] === 'core' && options.core !== 'off';
  options.hold ||= environment['AGENTDUMP_HOLD'] === '1';
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
