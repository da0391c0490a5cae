/**
 * The preload's settings: from environment variables, or the same names in camel case as options of `install()`.
 * A bad value is a warning and the default, never a failure. Defaults are those of the table in README.md.
 */
import { passingVariable } from '../bundle/layout.ts';

/** auto: at a crash, where it fits; pressed: only where memory may be what killed, or a snapshot was asked for. */
export type HeapTier = 'off' | 'pressed' | 'auto' | 'always';

export interface Config {
  enabled: boolean;
  /** Folder of the bundles, absolute or relative to the working directory at load time. */
  dir: string;
  signals: NodeJS.Signals[];
  snapshotSignal: NodeJS.Signals | undefined;
  heap: HeapTier;
  heapStrings: 'names' | 'clean';
  /** core: they are read from the core that `agentdump run` arms; in the program nothing is. */
  locals: 'off' | 'uncaught' | 'core';
  /** What is recorded of model calls. */
  captureLlm: 'content' | 'metadata' | 'off';
  /** What is recorded of other requests. */
  captureHttp: 'content' | 'metadata';
  /** stacks: where each open handle and descriptor comes from is kept. */
  handles: 'count' | 'stacks';
  /** Whether the ends of standard output and error are kept. */
  logs: 'tail' | 'off';
  /** Once there was a sign of an agent, it must make progress within so many milliseconds; 0 expects nothing. */
  progressMs: number;
  /** The main thread silent for so long is a hang; 0 turns the watchdog off. */
  hangMs: number;
  /** A light snapshot at this share of the heap's or the cgroup's limit, in percent; 0 for none. */
  memoryPercent: number;
  /** It was asked for by name, so that also a program that hangs in its first second is seen. */
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

const knownSignals = [
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGINT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGBREAK',
  'SIGALRM',
  'SIGXCPU',
];

/** Settings from `environment`, overridden by `options`; what could not be understood goes to `warn`. */
export function readConfig(environment: Environment, options: InstallOptions, warn: Warn): Config {
  const read = new VariableReader(environment, warn);
  const snapshot = options.snapshotSignal ?? read.signal('AGENTDUMP_SNAPSHOT_SIGNAL', 'SIGUSR2');
  return {
    enabled: read.text('AGENTDUMP', 'on').toLowerCase() !== 'off',
    dir: options.dir ?? read.text('AGENTDUMP_DIR', '.agentdump'),
    signals: options.signals ?? read.signals('AGENTDUMP_SIGNALS', ['SIGTERM', 'SIGHUP', 'SIGQUIT']),
    snapshotSignal: snapshot === 'off' ? undefined : snapshot,
    heap: options.heap ?? read.choice('AGENTDUMP_HEAP', ['off', 'pressed', 'auto', 'always'], 'auto'),
    heapStrings: options.heapStrings ?? read.choice('AGENTDUMP_HEAP_STRINGS', ['names', 'clean'], 'names'),
    locals: options.locals ?? read.choice('AGENTDUMP_LOCALS', ['off', 'uncaught', 'core'], 'off'),
    captureLlm:
      options.captureLlm ?? read.choice('AGENTDUMP_CAPTURE_LLM', ['content', 'metadata', 'off'], 'content'),
    captureHttp:
      options.captureHttp ?? read.choice('AGENTDUMP_CAPTURE_HTTP', ['content', 'metadata'], 'metadata'),
    handles: options.handles ?? read.choice('AGENTDUMP_HANDLES', ['count', 'stacks'], 'count'),
    logs: options.logs ?? read.choice('AGENTDUMP_LOGS', ['tail', 'off'], 'tail'),
    progressMs: options.progressMs ?? read.size('AGENTDUMP_PROGRESS_MS', 0),
    hangMs: options.hangMs ?? read.size('AGENTDUMP_HANG_MS', 5000),
    memoryPercent: options.memoryPercent ?? read.size('AGENTDUMP_MEMORY_PERCENT', 70),
    watchFromStart: (options.hangMs ?? environment['AGENTDUMP_HANG_MS']) !== undefined,
    maxBundles: options.maxBundles ?? read.size('AGENTDUMP_MAX_BUNDLES', 20),
    maxBytes: options.maxBytes ?? read.size('AGENTDUMP_MAX_BYTES', 2 * 1024 ** 3),
    allow: options.allow ?? read.list('AGENTDUMP_ALLOW'),
    deny: options.deny ?? read.list('AGENTDUMP_DENY'),
    recipient: (options.recipient ?? read.text('AGENTDUMP_RECIPIENT', '')) || undefined,
    isPassing: environment[passingVariable] !== undefined,
  };
}

class VariableReader {
  readonly #environment: Environment;
  readonly #warn: Warn;

  constructor(environment: Environment, warn: Warn) {
    this.#environment = environment;
    this.#warn = warn;
  }

  text(name: string, fallback: string): string {
    return this.#environment[name]?.trim() || fallback;
  }

  list(name: string): string[] {
    return this.text(name, '')
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  }

  choice<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback: NoInfer<Choice>,
  ): Choice {
    const wanted = this.text(name, fallback).toLowerCase();
    const found = choices.find((choice) => choice === wanted);
    if (found === undefined) this.#warn(`${name} is not one of ${choices.join(', ')}; using ${fallback}`);
    return found ?? fallback;
  }

  /** A count or a size: digits, with K, M or G (powers of 1024) after them. */
  size(name: string, fallback: number): number {
    const text = this.text(name, '');
    if (text === '') return fallback;
    const match = /^(\d{1,15})\s*([KMG])?i?B?$/i.exec(text);
    if (!match) {
      this.#warn(`${name} is not a number (K, M and G may follow it); using ${fallback}`);
      return fallback;
    }
    const power = ['', 'K', 'M', 'G'].indexOf((match[2] ?? '').toUpperCase());
    return Number(match[1]) * 1024 ** power;
  }

  signals(name: string, fallback: NodeJS.Signals[]): NodeJS.Signals[] {
    if (this.#environment[name] === undefined) return fallback;
    return this.list(name)
      .filter((item) => !/^(off|none)$/i.test(item))
      .flatMap((item) => this.#signalNamed(name, item) ?? []);
  }

  signal(name: string, fallback: NodeJS.Signals): NodeJS.Signals | 'off' {
    const text = this.text(name, fallback);
    if (/^(off|none)$/i.test(text)) return 'off';
    return this.#signalNamed(name, text) ?? fallback;
  }

  #signalNamed(name: string, text: string): NodeJS.Signals | undefined {
    const upper = text.toUpperCase();
    const signal = upper.startsWith('SIG') ? upper : `SIG${upper}`;
    if (knownSignals.includes(signal)) return signal as NodeJS.Signals;
    this.#warn(`${name} names ${JSON.stringify(text)}, which is no signal that can be caught; ignored`);
    return undefined;
  }
}
