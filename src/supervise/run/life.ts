/**
 * One life of the program: its start, the watch over its health, what is done when it becomes unhealthy, its end and the
 * explanation of that. Lean: what a program that is well never needs is imported when it is needed.
 */
import { basename } from 'node:path';
import { writeSession } from '../../journal/write/session.ts';
import { clearSession } from '../finish/clear-session.ts';
import type { Attended } from '../health/attend.ts';
import { type Complaint, isWatched } from '../health/limits.ts';
import type { HealthWatch } from '../health/watch.ts';
import { canLeaveCore } from '../native/core-limit.ts';
import type { FullHeap } from '../native/full-heap.ts';
import { watchFullHeap } from '../native/full-heap-watch.ts';
import type { HeldDeath, Hold, HoldPlace } from '../native/hold.ts';
import { type RunningChild, startChild } from './child.ts';
import { inferSignal, isUnexplained } from './exit-status.ts';
import type { LedgerBuffer } from './ledger-buffer.ts';
import type { ChildExit } from './restart-policy.ts';
import type { RunOptions } from './run-options.ts';
import { adviceOnUnrecorded, UnrecordedWatch } from './unrecorded.ts';

type SentSignal = { name: string; at: string; by: 'passed-on' | 'supervisor'; reason?: string };

export interface LifeEnd {
  exit: ChildExit;
  ranMs: number;
  /** It was ended, or would have been, because a check complained. */
  complaint?: Complaint;
  bundle?: string;
  verdictKind?: string;
  /** Its heap is being read; the bundle is there when that is done. */
  later?: ReadingEnd;
}

export interface ReadingEnd {
  /** Never rejects. */
  explained: Promise<{ bundle?: string }>;
  /** The bundle is written without the heap. */
  giveUp(): void;
}

export interface LifeStart {
  options: RunOptions;
  ledger: LedgerBuffer;
  attempt: number;
  /** Variables for this run only. */
  extra: Record<string, string>;
  /** Whether an unhealthy program is ended. */
  stopsUnhealthy: boolean;
  /** When the trouble of the life before was noticed (performance.now). */
  troubleAt: number | undefined;
  /** The heap of an earlier life is being read. */
  isReadingHeap(): boolean;
  onWell(pid: number): void;
  /** It is unhealthy, and left running. */
  onUnhealthy(because: string): void;
}

/** What an unhealthy program needs is found and compiled before it is certain. */
function getReady(): void {
  Promise.all([import('../health/attend.ts'), import('../attach/capture-live.ts')]).catch(() => {});
}

export class Life {
  readonly #start: LifeStart;
  readonly #startedAt = performance.now();
  readonly #sent: SentSignal[] = [];
  #child: RunningChild | undefined;
  #watch: HealthWatch | undefined;
  #complaint: Complaint | undefined;
  #attended: Promise<Attended> | undefined;
  #isWell = false;
  /** When it was noticed that something is wrong (performance.now). */
  troubleAt = 0;

  constructor(start: LifeStart) {
    this.#start = start;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  noteSignal(name: string, by: SentSignal['by'], reason?: string): void {
    this.#sent.push({ name, at: new Date().toISOString(), by, ...(reason !== undefined && { reason }) });
  }

  /** It was asked to end: what it does not do any more is no failed check. */
  dismiss(): void {
    this.#watch?.stop();
  }

  /** Resolves when it has ended and was explained. Rejects when it can't be started. */
  async live(): Promise<LifeEnd> {
    const { options, ledger, attempt, extra } = this.#start;
    const { command, dir, core, health } = options;
    const place = options.hold ? (await import('../native/hold.ts')).prepareHold(core) : undefined;
    const readsAborts = options.localsFromCore && canLeaveCore(process.cwd());
    if (options.localsFromCore && !readsAborts)
      options.note(
        '--locals core: no core can be left here (see agentdump doctor), so the variables are not read',
      );
    const child = await startChild({
      ...(place && { hold: place.environment }),
      command,
      dir,
      core,
      extra,
      heartbeat: health.heartbeatMs !== undefined,
      // An abort that nothing reads would only change how the program ends.
      ...(readsAborts && { nodeOptions: ['--abort-on-uncaught-exception'] }),
    });
    this.#child = child;
    const session = child.session?.id ?? '';
    const added = Object.keys(extra);
    ledger.hold({
      event: 'start',
      child: child.pid,
      session,
      attempt,
      ...(added.length > 0 && { escalated: added }),
    });
    void this.#watchOver(child);
    // What is dropped in the first life is dropped in all.
    const unrecorded = attempt === 0 ? new UnrecordedWatch(child.pid, noteUnrecorded(options)) : undefined;
    const hold = place && (await this.#startHold(child, place));
    const heapWatch = this.#watchHeap(child);
    const ended = await child.ended.finally(() => unrecorded?.close());
    const fullHeap = await heapWatch?.end();
    // With the session's folder they go.
    child.withheld();
    hold?.stop();
    const held = await hold?.result;
    hold?.tidyUp();
    const exit = held && ended.signal === 'SIGKILL' ? { signal: held.signal } : ended;
    this.#child = undefined;
    this.#watch?.stop();
    if (this.#complaint === undefined) this.troubleAt = performance.now();
    const ranMs = Math.round(performance.now() - this.#startedAt);
    const attended = await this.#attended;
    const ending = this.#lookBack(child, exit, ranMs, attended ?? {}, held, fullHeap);
    const known = { exit, ranMs, ...(this.#complaint && { complaint: this.#complaint }) };
    if (!fullHeap) return { ...known, ...(await ending) };
    // Reading a heap takes seconds: the next life does not wait for it.
    const later = { explained: ending, giveUp: () => fullHeap.reading?.stop() };
    return { ...known, verdictKind: 'heap-out-of-memory', later };
  }

  #watchHeap({ pid, diagnostics }: RunningChild) {
    const { options, isReadingHeap } = this.#start;
    if (!options.readHeapApart) return undefined;
    return watchFullHeap(pid, diagnostics, { readApart: options.readHeapApart, isBusy: isReadingHeap });
  }

  async #startHold(child: RunningChild, place: HoldPlace): Promise<Hold> {
    const { Hold } = await import('../native/hold.ts');
    return new Hold(child.pid, place, this.#start.options.digestCore, child);
  }

  async #watchOver(child: RunningChild): Promise<void> {
    const { health } = this.#start.options;
    const { pid, session } = child;
    if (!isWatched(health) && this.#start.troubleAt === undefined && !this.#start.options.announce) return;
    const { HealthWatch } = await import('../health/watch.ts');
    if (this.#child !== child) return;
    this.#watch = new HealthWatch(
      health,
      { pid, dir: this.#start.options.dir, ...(session && { sessionFolder: session.folder }) },
      {
        onComplaint: (complaint) => {
          this.#attended ??= this.#attend(child, complaint);
        },
        onWell: () => this.#noteWell(pid),
        onDoubt: getReady,
      },
    );
  }

  #noteWell(pid: number): void {
    if (this.#isWell) return;
    this.#isWell = true;
    const { ledger, troubleAt, onWell } = this.#start;
    if (troubleAt !== undefined) {
      const afterMs = Math.round(performance.now() - troubleAt);
      ledger.hold({ event: 'recovered', child: pid, afterMs });
    }
    onWell(pid);
  }

  async #attend(child: RunningChild, complaint: Complaint): Promise<Attended> {
    const { options, ledger, stopsUnhealthy, onUnhealthy } = this.#start;
    const noticedAt = performance.now();
    const { attend } = await import('../health/attend.ts');
    const attended = await attend(child, complaint, {
      dir: options.dir,
      ledger,
      stopGraceMs: options.health.stopGraceMs,
      stops: stopsUnhealthy,
      digestCore: options.digestCore,
      withheld: () => child.withheld(),
      onStop: (bundle) => {
        this.#complaint = complaint;
        this.troubleAt = noticedAt;
        if (child.session && bundle !== undefined) noteExplained(child.session, bundle);
      },
      onSignal: (name, reason) => this.noteSignal(name, 'supervisor', reason),
      note: options.note,
    });
    // Left alone after a false alarm, it is watched on; one that is unhealthy and left running has its bundle.
    if (attended.falseAlarm) this.#attended = undefined;
    else this.#watch?.stop();
    if (!attended.falseAlarm && !stopsUnhealthy && this.#child === child) onUnhealthy(complaint.what);
    return attended;
  }

  async #lookBack(
    child: RunningChild,
    exit: ChildExit,
    ranMs: number,
    attended: Attended,
    held: HeldDeath | undefined,
    fullHeap: FullHeap | undefined,
  ): Promise<Pick<LifeEnd, 'bundle' | 'verdictKind'> & { exit?: ChildExit }> {
    const { ledger, options } = this.#start;
    const wasStopped = this.#complaint !== undefined;
    if (exit.code === 0 && !wasStopped) {
      if (child.session) clearSession(child.session.folder, child.session.id);
      ledger.hold({ event: 'exit', child: child.pid, ranMs, ...exit });
      return {};
    }
    const { explainEnd } = await import('../finish/aftermath.ts');
    const { command, dir, core, digestCore, localsFromCore, readHeapApart } = options;
    const known = inferSignal(exit);
    const dumped = wasStopped && attended.bundle !== undefined ? attended : undefined;
    const end = await explainEnd({
      dir,
      command,
      child,
      exit: known,
      signalsSent: this.#sent,
      keepCore: core === 'keep',
      localsFromCore,
      ...(digestCore && { digestCore }),
      ...(dumped && { dumped }),
      ...(held && { held }),
      ...(fullHeap && { fullHeap, readHeapApart }),
    });
    if (end.bundle !== undefined && (isUnexplained(known) || wasStopped))
      options.note(`${end.verdictKind}: ${end.bundle}`);
    const { asExit, ...explanation } = end;
    const event = { event: 'exit', child: child.pid, ranMs, ...exit, ...explanation } as const;
    if (end.bundle !== undefined) await ledger.write(event);
    else ledger.hold(event);
    return { ...explanation, ...(asExit && { exit: asExit }) };
  }
}

/** While it runs: what happens to it later would be told without what the recorder knows. */
function noteUnrecorded({ note }: RunOptions): (name: string) => void {
  return (name) => note(adviceOnUnrecorded([name]));
}

/** Before it is killed: a sweep that comes by in the moment after must not explain this death again. */
function noteExplained({ folder, facts }: NonNullable<RunningChild['session']>, bundle: string): void {
  try {
    writeSession(folder, { ...facts, bundle: basename(bundle) });
  } catch {
    // Then it may be explained twice.
  }
}
