/**
 * `agentdump run`: starts a program, waits, has its death explained, and starts it again where that is wished. Lean:
 * what a program that ends well never needs (finisher, redactor, ledger) is imported at the death.
 */

import { newId } from '../journal/session-id.ts';
import { type RunningChild, startChild } from './child.ts';
import { clearSession } from './clear-session.ts';
import { Diary } from './diary.ts';
import { inferSignal, isUnexplained } from './exit-status.ts';
import { type ChildExit, type RestartLimits, RestartPolicy } from './restart-policy.ts';
import { installSignalPassing } from './signals.ts';

export interface RunOptions {
  command: readonly string[];
  /** The dump folder, absolute. */
  dir: string;
  restart: RestartLimits;
  /** Have the kernel leave a core file at a native death. It holds the memory in the clear. */
  core: boolean;
  /** Look closer at the run after a crash. */
  escalate: boolean;
  /** Command line for a shell, run when a crash loop is given up. */
  onCrashLoop?: string;
  /** A line for the person at the terminal. */
  note(text: string): void;
}

export interface RunEnd {
  exit: ChildExit;
  /** The program died again and again, and was given up. */
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

interface Life {
  exit: ChildExit;
  ranMs: number;
  bundle?: string;
}

/** A program that ends sooner does not pay for the deaths of others. */
const sweepAfterMs = 3000;
/** Signals by which somebody asks the program to end: then it is not started again. */
const farewells = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);

class Supervision {
  readonly #options: RunOptions;
  readonly #policy: RestartPolicy;
  readonly #diary: Diary;
  readonly #removeListeners: () => void;
  #child: RunningChild | undefined;
  #sent: { name: string; at: string; by: 'passed-on' }[] = [];
  #isStopping = false;
  #stopPausing = () => {};

  constructor(options: RunOptions) {
    this.#options = options;
    this.#policy = new RestartPolicy(options.restart);
    this.#diary = new Diary(options.dir, newId());
    this.#removeListeners = installSignalPassing({
      pid: () => this.#child?.pid,
      onArrival: (name) => this.#noteSignal(name),
      onJudged: (name, by) => this.#diary.hold({ event: 'signal', name, by }),
    });
    const program = options.command[0] ?? '';
    this.#diary.hold({ event: 'supervise', program, pid: process.pid, restart: options.restart.wish });
  }

  close(): void {
    this.#removeListeners();
    this.#diary.close();
  }

  async run(): Promise<RunEnd> {
    this.#sweepLater();
    let escalation: Record<string, string> = {};
    for (let attempt = 0; ; attempt++) {
      const life = await this.#liveOnce(attempt, escalation);
      const { exit, ranMs } = life;
      if (this.#isStopping) return this.#end(exit, 'asked to stop');
      const decision = this.#policy.decide(exit, ranMs, performance.now());
      if (decision.kind === 'stop') return this.#end(exit, 'no restart wished');
      if (decision.kind === 'crash-loop') return this.#giveUp(life, decision.restarts);
      await this.#diary.write({ event: 'restart', delayMs: decision.delayMs, restarts: attempt + 1 });
      await this.#pause(decision.delayMs);
      if (this.#isStopping) return this.#end(exit, 'asked to stop');
      escalation = exit.code !== 0 && this.#options.escalate ? { AGENTDUMP_LOCALS: 'uncaught' } : {};
    }
  }

  async #liveOnce(attempt: number, escalation: Record<string, string>): Promise<Life> {
    const { command, dir, core } = this.#options;
    this.#sent = [];
    const startedAt = performance.now();
    const child = await startChild({ command, dir, core, escalation });
    this.#child = child;
    const escalated = Object.keys(escalation);
    const session = child.session?.id ?? '';
    this.#diary.hold({
      event: 'start',
      child: child.pid,
      session,
      attempt,
      ...(escalated.length > 0 && { escalated }),
    });
    const exit = await child.ended;
    this.#child = undefined;
    const ranMs = Math.round(performance.now() - startedAt);
    return { exit, ranMs, ...(await this.#lookBack(child, exit, ranMs)) };
  }

  async #lookBack(child: RunningChild, exit: ChildExit, ranMs: number): Promise<{ bundle?: string }> {
    if (exit.code === 0) {
      if (child.session) clearSession(child.session.folder, child.session.id);
      this.#diary.hold({ event: 'exit', child: child.pid, ranMs, ...exit });
      return {};
    }
    const { explainEnd } = await import('./aftermath.ts');
    const { command, dir, core, note } = this.#options;
    const known = inferSignal(exit);
    const end = explainEnd({ dir, command, child, exit: known, signalsSent: this.#sent, core });
    if (isUnexplained(known) && end.bundle !== undefined) note(`${end.verdictKind}: ${end.bundle}`);
    const event = { event: 'exit', child: child.pid, ranMs, ...exit, ...end } as const;
    if (end.bundle !== undefined) await this.#diary.write(event);
    else this.#diary.hold(event);
    return end;
  }

  /** Those who died here before us and were seen by nobody get their bundles while our program works. */
  #sweepLater(): void {
    const timer = setTimeout(async () => {
      const { sweepBehind } = await import('./aftermath.ts');
      sweepBehind(this.#options.dir);
    }, sweepAfterMs);
    timer.unref();
  }

  #end(exit: ChildExit, because: string): RunEnd {
    if (this.#diary.isWritten) this.#diary.hold({ event: 'end', because });
    return { exit, crashLoop: false };
  }

  async #giveUp({ exit, bundle = '' }: Life, restarts: number): Promise<RunEnd> {
    const { onCrashLoop: hook, restart, note } = this.#options;
    const { windowMs } = restart;
    note(`crash loop: ${restarts} restarts within ${windowMs / 1000} s; given up`);
    const event = { event: 'crash-loop', restarts, windowMs } as const;
    if (hook === undefined) await this.#diary.write(event);
    else {
      const { runCrashLoopHook } = await import('./aftermath.ts');
      const facts = { AGENTDUMP_RESTARTS: String(restarts), AGENTDUMP_BUNDLE: bundle };
      await this.#diary.write({ ...event, hook, hookExit: await runCrashLoopHook(hook, facts) });
    }
    return { exit, crashLoop: true };
  }

  #noteSignal(name: NodeJS.Signals): void {
    this.#sent.push({ name, at: new Date().toISOString(), by: 'passed-on' });
    if (!farewells.has(name)) return;
    this.#isStopping = true;
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
