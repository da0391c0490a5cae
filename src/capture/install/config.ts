/**
 * The preload's settings: from environment variables, or the same names in camel case as options of `install()`. An invalid
 * value of either leads to a warning and the default, never to a failure. The defaults are in docs/configuration.md.
 */
import { passingVariable } from '../../bundle/layout/bundle.ts';
import { testRunVariable } from '../../bundle/layout/tests.ts';
import { SettingReader } from './read-setting.ts';

/** auto: at a crash, if it fits; pressed: only if memory may be the cause, or a snapshot was requested. */
export type HeapTier = 'off' | 'pressed' | 'auto' | 'always';

export interface Config {
  enabled: boolean;
  /** Folder of the bundles, absolute or relative to the working directory at load time. */
  dir: string;
  signals: NodeJS.Signals[];
  snapshotSignal: NodeJS.Signals | undefined;
  /** Which deliberate exits leave a bundle. agent: if an agent, a server or a run was at work (work-watch.ts). */
  exits: 'all' | 'agent' | 'off';
  heap: HeapTier;
  heapStrings: 'names' | 'clean';
  /** core: variables are read from the core file that `agentdump run` enables; the program itself reads none. */
  locals: 'off' | 'uncaught' | 'core';
  /** What is recorded of model calls. */
  captureLlm: 'content' | 'metadata' | 'off';
  /** What is recorded of other requests. */
  captureHttp: 'content' | 'metadata';
  /**
   * Whether async work is attributed to the request that started it. auto: if that makes no promise slower that was not slow
   * before.
   */
  context: 'auto' | 'always' | 'off';
  /** stacks: records where each open handle and descriptor was created. */
  handles: 'count' | 'stacks';
  /** Whether the last lines of standard output and error are kept. */
  logs: 'tail' | 'off';
  /** Once an agent is detected, it must make progress within this many milliseconds; 0 disables the check. */
  progressMs: number;
  /** If the main thread is silent for this long, it hangs; 0 disables the detection. */
  hangMs: number;
  /** A light snapshot at this share of the limit of heap or cgroup, in percent; 0 for none. */
  memoryPercent: number;
  /** The watchdog, or what needs it, was enabled by name: a program that hangs in its first second is detected too. */
  watchFromStart: boolean;
  maxBundles: number;
  maxBytes: number;
  allow: string[];
  deny: string[];
  /** Who can read the bundles: age recipients, a file of them, or `passphrase:…`; undefined for unencrypted bundles. */
  recipient: string | undefined;
  /** The bundles are read by the process that started the program, and then removed. */
  isPassing: boolean;
}

/** The form that `install()` accepts. */
export type InstallOptions = Partial<
  Omit<Config, 'enabled' | 'snapshotSignal' | 'recipient' | 'watchFromStart' | 'isPassing'>
> & {
  snapshotSignal?: NodeJS.Signals | 'off';
  recipient?: string;
};

type Environment = Record<string, string | undefined>;
type Warn = (text: string) => void;

/** Settings from `environment`, overridden by `options`; invalid values are reported to `warn`. */
export function readConfig(environment: Environment, options: InstallOptions | null, warn: Warn): Config {
  const read = new SettingReader(environment, { ...options }, warn);
  const snapshot = read.signal('snapshotSignal', 'off');
  const hangMs = read.count('hangMs', 5000, longestTimerMs);
  return {
    enabled: read.onOrOff(environment['AGENTDUMP']),
    dir: read.text('dir') ?? '.agentdump',
    signals: read.signals('signals', ['SIGTERM', 'SIGHUP', 'SIGQUIT']),
    snapshotSignal: snapshot === 'off' ? undefined : snapshot,
    exits: read.choice('exits', ['all', 'agent', 'off'], 'agent'),
    heap: read.choice('heap', ['off', 'pressed', 'auto', 'always'], 'auto'),
    heapStrings: read.choice('heapStrings', ['names', 'clean'], 'names'),
    locals: read.choice('locals', ['off', 'uncaught', 'core'], 'off'),
    captureLlm: read.choice('captureLlm', ['content', 'metadata', 'off'], 'content'),
    captureHttp: read.choice('captureHttp', ['content', 'metadata'], 'metadata'),
    context: read.choice('context', ['auto', 'always', 'off'], 'auto'),
    handles: read.choice('handles', ['count', 'stacks'], 'count'),
    logs: read.choice('logs', ['tail', 'off'], 'tail'),
    progressMs: read.count('progressMs', 0, longestTimerMs),
    hangMs,
    memoryPercent: read.count('memoryPercent', 70, 100),
    watchFromStart: (hangMs > 0 && read.isSaid('hangMs')) || isByHand(snapshot, environment),
    maxBundles: read.count('maxBundles', 20),
    maxBytes: read.size('maxBytes', 2 * 1024 ** 3),
    allow: read.list('allow'),
    deny: read.list('deny'),
    recipient: read.text('recipient'),
    isPassing: environment[passingVariable] !== undefined,
  };
}

/** A snapshot signal kills as long as nobody holds it. `agentdump ci` sets it for every process of a run. */
function isByHand(snapshot: NodeJS.Signals | 'off', environment: Environment): boolean {
  return snapshot !== 'off' && environment[testRunVariable] === undefined;
}

/** The maximum of setTimeout; with a larger value it fires at once. */
const longestTimerMs = 2 ** 31 - 1;
