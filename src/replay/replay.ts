/**
 * Runs a program again with its recorded model replies and reports how it ended: with the same death, another one, none,
 * after the point of the death, or after a request that is not in the recording. The replayed run is supervised like any
 * other, in a separate dump folder, so that its death is analyzed in the same way.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mask, masking } from '../agent/calls/masks.ts';
import { analyzeBundle } from '../analysis/analyze.ts';
import { listBundles } from '../bundle/finished/list.ts';
import { passingVariable } from '../bundle/layout/bundle.ts';
import { openBundle } from '../bundle/read/reader.ts';
import type { Signature } from '../model/account.ts';
import { signals } from '../platform/signals.ts';
import { type EffectKind, planVariable, type ReplayPlan } from '../replayed/plan.ts';
import { preloadFile } from '../supervise/arm.ts';
import { explainEnd } from '../supervise/finish/aftermath.ts';
import { type RunningChild, startChild } from '../supervise/run/child.ts';
import { inferSignal } from '../supervise/run/exit-status.ts';
import type { ChildExit } from '../supervise/run/restart-policy.ts';
import { type Answer, Answerer, type Given } from './answers/answerer.ts';
import { type Difference, renderDifferences } from './answers/compare.ts';
import { inOwnNetwork } from './answers/own-network.ts';
import { startReplayServer } from './answers/server.ts';
import { startGuardian } from './guardian.ts';
import { mayBeReplayed } from './kept-environment.ts';
import { requireTools } from './recorded/recorded-tools.ts';
import { type Recording, seedOf } from './recorded/recording.ts';
import { describe, type RepeatedEffect, readEffects, warnOfEffects } from './repeated-effects.ts';
import { isSameDeath } from './same-death.ts';

export interface ReplayOptions {
  recording: Recording;
  command: readonly string[];
  /** What to do with a request that differs from the recorded one. `answer`: it receives the next recorded reply. */
  onMismatch: 'stop' | 'live' | 'answer';
  /** Servers (`host` or `host:port`) that receive real requests, regardless of `onMismatch`. */
  live?: readonly string[];
  /** Tools that return their recorded results; all others run. */
  tools?: readonly string[];
  /** What is not compared in requests, so that one that differs only there is the recorded one. */
  masks?: readonly Mask[];
  /** The first effect of these kinds ends the replay before it happens. Default: they are repeated and reported. */
  hold?: readonly EffectKind[];
  /** Use the real time instead of the recorded one. */
  realClock?: boolean;
  /** Called with each call before its reply is sent, which waits for the result. `stop` ends the replay there. */
  beforeReply?: (
    call: string,
    place: readonly string[],
    pid: number | undefined,
  ) => Promise<'go-on' | 'stop'>;
  /** Prints a line for the user at the terminal. */
  note(text: string): void;
  /** Working directory and standard streams of the program. Default: those of this process. */
  cwd?: string;
  isQuiet?: boolean;
}

export interface ReplayResult {
  /**
   * `same`: the recorded death. `another`: a death with another signature. `none`: it ended successfully. `past`: it
   * continued past the point of the death, i.e. made requests after all recorded ones were answered. `differs`: a request
   * differed from the recorded one. `held`: it was ended before an effect of a kind in `hold`. `stopped`: it was stopped on
   * request.
   */
  outcome: 'same' | 'another' | 'none' | 'past' | 'differs' | 'held' | 'stopped';
  answered: number;
  recorded: number;
  /** Requests that are not model calls. */
  others: { answered: number; recorded: number };
  exit: ChildExit;
  signature?: Signature;
  /** The death of the replay, in one sentence. */
  title?: string;
  differences: Difference[];
  refused: string[];
  /** Changes of files, child processes and MCP tools on standard streams that the program had again, or that were held. */
  effects: RepeatedEffect[];
}

export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-replay-'));
  try {
    return await new Replay(options, folder).run();
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

type ReplaySockets = ReplayPlan['sockets'] & { unknown: string };

class Replay {
  readonly #options: ReplayOptions;
  readonly #folder: string;
  readonly #dumps: string;
  readonly #answerer: Answerer;
  readonly #refused: string[] = [];
  #differences: Difference[] = [];
  #ended: ReplayResult['outcome'] | undefined;
  #child: RunningChild | undefined;
  #given = { reply: 0, http: 0 };
  #signalTimer: NodeJS.Timeout | undefined;

  constructor(options: ReplayOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    this.#dumps = join(folder, 'dumps');
    this.#answerer = new Answerer(
      options.recording,
      options.onMismatch === 'answer',
      masking(options.masks ?? []),
    );
  }

  async run(): Promise<ReplayResult> {
    const { recording, command, isQuiet, cwd } = this.#options;
    const sockets = {
      http: join(this.#folder, 'http.sock'),
      https: join(this.#folder, 'https.sock'),
      unknown: join(this.#folder, 'unknown.sock'),
    };
    const server = await startReplayServer(sockets, this.#answerer, {
      onReply: (answer) => this.#beforeReply(answer),
      onGiven: ({ kind }) => {
        this.#given[kind]++;
        this.#signalWhenDue();
      },
      onUnanswered: (answer, request) => this.#unanswered(answer, request),
      onUnknownServer: (address) => this.#unknownServer(address),
    });
    const guardian = startGuardian();
    try {
      const child = await startChild({
        dir: this.#dumps,
        command: this.#isolated(command),
        core: 'off',
        extra: {},
        heartbeat: false,
        environment: this.#environment(sockets),
        stdio: ['inherit', isQuiet ? 'ignore' : 2, isQuiet ? 'ignore' : 2],
        ...(cwd !== undefined && { cwd }),
      });
      this.#child = child;
      guardian.guard(child.pid);
      if (recording.calls.length + recording.http.length === 0) this.#signalWhenDue();
      return await this.#result(child, await child.ended);
    } finally {
      clearTimeout(this.#signalTimer);
      guardian.dismiss();
      server.close();
    }
  }

  /** Runs the command in a separate network, except with a debugger or live servers, which would be unreachable. */
  #isolated(command: readonly string[]): readonly string[] {
    const { onMismatch, live = [], beforeReply, cwd } = this.#options;
    if (onMismatch === 'live' || live.length > 0 || beforeReply) return command;
    return inOwnNetwork(command, cwd) ?? command;
  }

  #environment({ unknown, ...sockets }: ReplaySockets): NodeJS.ProcessEnv {
    const { recording, realClock, onMismatch, tools = [] } = this.#options;
    const live = (this.#options.live ?? []).map((host) => host.toLowerCase());
    const planFile = join(this.#folder, 'plan.json');
    const plan: ReplayPlan = {
      sockets,
      hosts: recording.hosts.filter((host) => !live.includes(host)),
      ...(onMismatch !== 'live' && {
        others: { live, unknown, portsFile: join(this.#folder, 'ports') },
      }),
      seed: seedOf(recording),
      tools: requireTools(recording.tools, tools),
      pidFile: this.#pidFile,
      effects: {
        file: this.#effectsFile,
        hold: [...(this.#options.hold ?? [])],
        folder: this.#folder,
        pidFile: this.#pidFile,
      },
      ...(!realClock && recording.startedAtMs > 0 && { startedAtMs: recording.startedAtMs }),
    };
    writeFileSync(planFile, JSON.stringify(plan));
    // Clients need a key before they send a request. The original is not known, and nothing checks it. The names are filtered
    // again, because a recording file may contain variables that the reader of bundles leaves out.
    const names = Object.values(recording.withheld).filter(mayBeReplayed);
    const withheld = Object.fromEntries(names.map((name) => [name, 'not-known-in-a-replay']));
    const kept = Object.entries(recording.environment).filter(([name]) => mayBeReplayed(name));
    const { NODE_OPTIONS: nodeOptions = '', ...own } = process.env;
    return {
      ...withheld,
      ...Object.fromEntries(kept),
      ...own,
      // The preload that writes the bundle is loaded first, so it keeps the real clock.
      NODE_OPTIONS: [
        nodeOptions,
        ...[preloadFile, replayPreload].map((path) => `--require ${JSON.stringify(path)}`),
      ]
        .join(' ')
        .trim(),
      AGENTDUMP: 'on',
      AGENTDUMP_RECIPIENT: '',
      AGENTDUMP_HEAP: 'off',
      [passingVariable]: 'yes',
      [planVariable]: planFile,
    };
  }

  get #pidFile(): string {
    return join(this.#folder, 'pid');
  }

  get #effectsFile(): string {
    return join(this.#folder, 'effects');
  }

  async #beforeReply({ kind, call, differences }: Given): Promise<void> {
    if (differences.length > 0) {
      this.#differences.push(...differences);
      this.#options.note(
        `${kind === 'reply' ? 'call' : 'request'} ${call.id} differs from the record and is answered all the same:\n${renderDifferences(differences)}`,
      );
    }
    if (kind === 'http') return;
    const wish = await this.#options.beforeReply?.(call.id, call.place, this.#pid());
    if (wish === 'stop') this.#stop('stopped');
  }

  #unanswered(answer: Exclude<Answer, Given>, request: string): 'live' | 'close' {
    const { onMismatch, note } = this.#options;
    if (answer.kind === 'past' && onMismatch !== 'live') {
      note(`${request}: all that was recorded is answered; the program has gone past the death`);
      this.#stop('past');
      return 'close';
    }
    if (answer.kind === 'differs') {
      this.#differences.push(...answer.differences);
      note(`${request} is not recorded ${answer.call.id}:\n${renderDifferences(answer.differences)}`);
    }
    if (answer.kind === 'refused') {
      this.#refused.push(answer.reason);
      note(`${request}: ${answer.reason}`);
    }
    if (onMismatch === 'live') {
      if (answer.kind === 'refused') this.#given.http++;
      return 'live';
    }
    this.#stop('differs');
    return 'close';
  }

  /** The effects of real requests are unknown, so nothing is sent. */
  #unknownServer(address: string): void {
    if (this.#ended) return;
    const reason = describeUnknown(address, this.#options.recording);
    this.#refused.push(reason);
    this.#options.note(reason);
    this.#stop('differs');
  }

  /** A signal from outside is sent once the program has received as many replies as in the recording. */
  #signalWhenDue(): void {
    const { signal, calls, http } = this.#options.recording;
    const isDue = calls.length ? this.#given.reply >= calls.length : this.#given.http >= http.length;
    if (!signal || !isDue || this.#signalTimer) return;
    const afterMs = Math.min(signal.afterMs, 10_000);
    this.#signalTimer = setTimeout(
      () => this.#kill(signal.name),
      Math.max(afterMs, calls.length + http.length === 0 ? 500 : 50),
    );
  }

  #stop(outcome: ReplayResult['outcome']): void {
    this.#ended ??= outcome;
    this.#kill(signals.kill);
  }

  /** The program's process, which may be a descendant of the one that was started (npx, a shell). */
  #pid(): number | undefined {
    try {
      return Number(readFileSync(this.#pidFile, 'utf8')) || undefined;
    } catch {
      return this.#child?.pid;
    }
  }

  #kill(signal: NodeJS.Signals): void {
    const pid = this.#pid();
    if (pid === undefined) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It has already exited.
    }
  }

  /** Warns of those that were repeated; one that was held has ended the replay. */
  #effects(): RepeatedEffect[] {
    const { cwd = process.cwd(), note } = this.#options;
    const effects = readEffects(this.#effectsFile, cwd);
    const held = effects.find(({ isHeld }) => isHeld);
    if (held && !this.#ended) {
      this.#ended = 'held';
      this.#refused.push(`${describe(held)} was stopped before it happened (--hold ${held.kind})`);
    }
    const warning = warnOfEffects(effects);
    if (warning) note(warning);
    return effects;
  }

  async #result(child: RunningChild, exit: ChildExit): Promise<ReplayResult> {
    const { recording, command } = this.#options;
    const effects = this.#effects();
    const facts = {
      answered: this.#answerer.answered,
      recorded: recording.calls.length,
      others: { answered: this.#answerer.http.answered, recorded: this.#answerer.http.recorded },
      exit,
      differences: this.#differences,
      refused: this.#refused,
      effects,
    };
    if (this.#ended) return { outcome: this.#ended, ...facts };
    if (exit.code !== 0)
      await explainEnd({
        dir: this.#dumps,
        command,
        child,
        exit: inferSignal(exit),
        signalsSent: [],
        keepCore: false,
        localsFromCore: false,
      });
    const deaths = await readDeaths(this.#dumps);
    const same = deaths.find(({ signature }) => isSameDeath(signature, recording.signature));
    const death = same ?? deaths[0];
    const outcome = same ? 'same' : death || exit.code !== 0 ? 'another' : 'none';
    return { outcome, ...facts, ...death };
  }
}

function describeUnknown(address: string, { askedHosts = [] }: Recording): string {
  const host = address.replace(/:\d+$/, '');
  const why =
    askedHosts.includes(address) || askedHosts.includes(host)
      ? 'its answers were recorded without content (AGENTDUMP_CAPTURE_HTTP=content keeps them)'
      : 'it is not in the recording';
  return `a connection to ${address} was stopped: ${why}. Let it go live with --live ${address}, or all with --on-mismatch live`;
}

async function readDeaths(dir: string): Promise<{ signature: Signature; title: string }[]> {
  const deaths = [];
  for (const { path } of listBundles(dir)) {
    const bundle = openBundle(path);
    try {
      const { signature, verdict } = await analyzeBundle(bundle);
      if (signature && verdict) deaths.push({ signature, title: verdict.title });
    } finally {
      bundle.close();
    }
  }
  return deaths;
}

/** Built next to the preload that writes the bundle. */
const replayPreload = join(dirname(preloadFile), 'replay.cjs');
