/**
 * `agentdump run`: starts a program, waits, has its death explained, and restarts it if requested, with settings that depend
 * on the death. What a program that ends well never needs (finisher, redactor, ledger) is imported after a death.
 */
import { newId } from '../../journal/write/session-id.ts';
import { type Readiness, startReadiness } from '../health/readiness.ts';
import { followStops } from './follow-stops.ts';
import { LedgerBuffer } from './ledger-buffer.ts';
import { Life, type LifeEnd, type ReadingEnd } from './life.ts';
import { type ChildExit, RestartPolicy } from './restart-policy.ts';
import type { RunOptions } from './run-options.ts';
import { installSignalPassing } from './signals.ts';

export interface RunEnd {
  exit: ChildExit;
  /** The program died repeatedly and is no longer restarted. */
  crashLoop: boolean;
}

/** Resolves when the program has ended for good. Rejects when it can't be started. */
export async function runSupervised(options: RunOptions): Promise<RunEnd> {
  const supervision = new Supervision(options);
  try {
    return await supervision.run();
  } finally {
    supervision.close();
  }
}

/** Programs that end sooner don't pay for the deaths of others. */
const sweepAfterMs = 3000;
/** Signals that ask the program to end: it is not restarted afterwards. */
const farewells = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);
const memoryDeaths = new Set(['heap-out-of-memory', 'system-out-of-memory']);

class Supervision {
  readonly #options: RunOptions;
  readonly #policy: RestartPolicy;
  readonly #ledger: LedgerBuffer;
  readonly #undoings: (() => void)[];
  readonly #readiness: Readiness;
  #life: Life | undefined;
  /** The latest end that left a bundle. */
  #explained: LifeEnd | undefined;
  /** Lives whose heaps are being read. */
  readonly #reading = new Map<ReadingEnd, Promise<void>>();
  #isStopping = false;
  #stopPausing = () => {};

  constructor(options: RunOptions) {
    this.#options = options;
    this.#policy = new RestartPolicy(options.restart);
    this.#ledger = new LedgerBuffer(options.dir, newId());
    const pid = () => this.#life?.pid;
    const passing = installSignalPassing({
      pid,
      onArrival: (name) => this.#noteSignal(name),
      onJudged: (name, by) => this.#ledger.hold({ event: 'signal', name, by }),
    });
    this.#undoings = [passing, followStops(pid)];
    this.#readiness = startReadiness(options);
    const program = options.command[0] ?? '';
    this.#ledger.hold({ event: 'supervise', program, pid: process.pid, restart: options.restart.wish });
  }

  close(): void {
    this.#readiness.close();
    for (const undo of this.#undoings) undo();
    this.#ledger.close();
  }

  async run(): Promise<RunEnd> {
    this.#sweepLater();
    let extra: Record<string, string> = {};
    let troubleAt: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const life = new Life({
        options: this.#options,
        ledger: this.#ledger,
        attempt,
        extra,
        stopsUnhealthy: this.#options.restart.wish !== 'never',
        troubleAt,
        isReadingHeap: () => this.#reading.size > 0,
        onWell: (pid) => this.#readiness.ready(pid),
        onUnhealthy: (because) => this.#readiness.unhealthy(because),
      });
      this.#life = life;
      const end = await life.live();
      if (end.bundle !== undefined) {
        this.#explained = end;
        await this.#options.onBundle?.();
      }
      if (end.later) this.#noteReading(end, end.later);
      this.#readiness.unready(describeExit(end));
      if (this.#isStopping) return this.#end(end.exit, 'asked to stop');
      const decision = this.#policy.decide(
        end.exit,
        end.ranMs,
        performance.now(),
        end.complaint !== undefined,
      );
      if (decision.kind === 'stop') return this.#end(end.exit, 'no restart wished');
      if (decision.kind === 'crash-loop') return this.#giveUp(end, decision.restarts);
      await this.#ledger.write({ event: 'restart', delayMs: decision.delayMs, restarts: attempt + 1 });
      await this.#pause(decision.delayMs);
      if (this.#isStopping) return this.#end(end.exit, 'asked to stop');
      troubleAt = life.troubleAt;
      extra = hasFailed(end) ? await this.#prepareNext(end) : {};
      if (this.#options.resume) extra['AGENTDUMP_RESUME'] = 'auto';
    }
  }

  /**
   * Variables for the next run: it records more after a failure, and starts with fresh state after a death from lack of
   * memory.
   */
  async #prepareNext(end: LifeEnd): Promise<Record<string, string>> {
    const { escalate, freshState } = this.#options;
    const { escalationAfter, beginAfresh } = await import('../finish/aftermath.ts');
    const closer = escalate ? escalationAfter(end.verdictKind, process.env) : {};
    const because = end.complaint?.check === 'memory' ? 'memory limit' : (end.verdictKind ?? '');
    if (!freshState || !(memoryDeaths.has(because) || because === 'memory limit')) return closer;
    await this.#ledger.write({ event: 'fresh-state', because, ...beginAfresh(freshState.folder) });
    return { ...closer, AGENTDUMP_FRESH_STATE: because };
  }

  /** While the program runs, writes bundles for earlier processes whose deaths nobody noticed. */
  #sweepLater(): void {
    const timer = setTimeout(async () => {
      try {
        await this.#options.onRunning?.();
      } catch {
        // Nobody would catch it, and the program would lose its supervisor.
      }
      const { sweepBehind } = await import('../finish/aftermath.ts');
      sweepBehind(this.#options.dir);
    }, sweepAfterMs);
    timer.unref();
  }

  /** The bundle is written after the next life has begun. */
  #noteReading(end: LifeEnd, later: ReadingEnd): void {
    if (this.#isStopping) later.giveUp();
    const ended = later.explained.then(async ({ bundle }) => {
      if (bundle !== undefined) this.#explained = { ...end, bundle };
      if (bundle !== undefined) await this.#options.onBundle?.();
    });
    this.#reading.set(
      later,
      ended.finally(() => this.#reading.delete(later)),
    );
  }

  async #end(exit: ChildExit, because: string): Promise<RunEnd> {
    await this.#endReading();
    if (this.#ledger.isWritten) this.#ledger.hold({ event: 'end', because });
    return { exit, crashLoop: false };
  }

  async #giveUp(end: LifeEnd, restarts: number): Promise<RunEnd> {
    const { onCrashLoop: hook, restart, note, signatureOf } = this.#options;
    const { windowMs } = restart;
    note(`crash loop: ${restarts} restarts within ${windowMs / 1000} s; given up`);
    await this.#endReading();
    const { bundle, verdictKind } = this.#explanationOf(end);
    const signature = bundle === undefined ? undefined : await signatureOf?.(bundle);
    const event = { event: 'crash-loop', restarts, windowMs, ...(signature && { signature }) } as const;
    if (hook === undefined) await this.#ledger.write(event);
    else {
      const { runCrashLoopHook } = await import('../finish/aftermath.ts');
      const facts = {
        AGENTDUMP_RESTARTS: String(restarts),
        AGENTDUMP_COUNT: String(restarts + 1),
        AGENTDUMP_BUNDLE: bundle ?? '',
        AGENTDUMP_SIGNATURE: signature ?? '',
        AGENTDUMP_VERDICT: verdictKind ?? '',
      };
      await this.#ledger.write({ ...event, hook, hookExit: await runCrashLoopHook(hook, facts) });
    }
    return { exit: end.exit, crashLoop: true };
  }

  async #endReading(): Promise<void> {
    await Promise.all(this.#reading.values());
  }

  /** The preload only counts a death that it has just stored, so the last death of a crash loop has no bundle of its own. */
  #explanationOf(end: LifeEnd): LifeEnd {
    const before = this.#explained;
    const isAlike = before?.exit.code === end.exit.code && before?.exit.signal === end.exit.signal;
    return end.bundle === undefined && before && isAlike ? before : end;
  }

  #noteSignal(name: NodeJS.Signals): void {
    this.#life?.noteSignal(name, 'passed-on');
    if (!farewells.has(name)) return;
    this.#isStopping = true;
    this.#readiness.stopping();
    this.#life?.dismiss();
    for (const { giveUp } of this.#reading.keys()) giveUp();
    this.#stopPausing();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopPausing = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function hasFailed({ exit, complaint }: LifeEnd): boolean {
  return exit.code !== 0 || complaint !== undefined;
}

function describeExit({ exit, complaint }: LifeEnd): string {
  return complaint?.what ?? exit.signal ?? `exit code ${exit.code}`;
}
