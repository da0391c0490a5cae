/**
 * The preload's settings: from environment variables, or the same names in camel case as options of `install()`.
 * A bad value of either is a warning and the default, never a failure. The defaults are in docs/configuration.md.
 */
import { passingVariable } from '../../bundle/layout/bundle.ts';
import { testRunVariable } from '../../bundle/layout/tests.ts';
import { SettingReader } from './read-setting.ts';

/** auto: at a crash, where it fits; pressed: only where memory may be what killed, or a snapshot was asked for. */
export type HeapTier = 'off' | 'pressed' | 'auto' | 'always';

export interface Config {
  enabled: boolean;
  /** Folder of the bundles, absolute or relative to the working directory at load time. */
  dir: string;
  signals: NodeJS.Signals[];
  snapshotSignal: NodeJS.Signals | undefined;
  /** Which deliberate exits leave a bundle. agent: where an agent, a server or a run was at work (work-watch.ts). */
  exits: 'all' | 'agent' | 'off';
  heap: HeapTier;
  heapStrings: 'names' | 'clean';
  /** core: they are read from the core that `agentdump run` arms; in the program nothing is. */
  locals: 'off' | 'uncaught' | 'core';
  /** What is recorded of model calls. */
  captureLlm: 'content' | 'metadata' | 'off';
  /** What is recorded of other requests. */
  captureHttp: 'content' | 'metadata';
  /** Whether what a request starts is followed: auto, where that slows no promise that was not slow before. */
  context: 'auto' | 'always' | 'off';
  /** stacks: where each open handle and descriptor comes from is kept. */
  handles: 'count' | 'stacks';
  /** Whether the ends of standard output and error are kept. */
  logs: 'tail' | 'off';
  /** Once there was a sign of an agent, it must make progress within so many milliseconds; 0 expects nothing. */
  progressMs: number;
  /** The main thread silent for so long is a hang; 0: nobody looks for hangs. */
  hangMs: number;
  /** A light snapshot at this share of the heap's or the cgroup's limit, in percent; 0 for none. */
  memoryPercent: number;
  /** It, or what needs it, was asked for by name: a program that hangs in its first second is seen too. */
  watchFromStart: boolean;
  maxBundles: number;
  maxBytes: number;
  allow: string[];
  deny: string[];
  /** Who may read the bundles: age recipients, a file of them, or `passphrase:…`; undefined leaves them in the clear. */
  recipient: string | undefined;
  /** The bundles are read by who started the program, and then removed. */
  isPassing: boolean;
}

/** As `install()` takes them. */
export type InstallOptions = Partial<
  Omit<Config, 'enabled' | 'snapshotSignal' | 'recipient' | 'watchFromStart' | 'isPassing'>
> & {
  snapshotSignal?: NodeJS.Signals | 'off';
  recipient?: string;
};

type Environment = Record<string, string | undefined>;
type Warn = (text: string) => void;

/** Settings from `environment`, overridden by `options`; what could not be understood goes to `warn`. */
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

/** A snapshot's signal kills as long as nobody holds it. Below `agentdump ci` it is set for every process of a run. */
function isByHand(snapshot: NodeJS.Signals | 'off', environment: Environment): boolean {
  return snapshot !== 'off' && environment[testRunVariable] === undefined;
}

/** What setTimeout takes; beyond that it fires at once. */
const longestTimerMs = 2 ** 31 - 1;
