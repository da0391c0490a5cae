/**
 * One life of the program: starts it, watches its health, acts if it becomes unhealthy, and explains its end. Modules that a
 * healthy program does not need are imported on demand.
 */
import { basename } from 'node:path';
import { writeSession } from '../../journal/write/session-file.ts';
import { clearSession } from '../finish/clear-session.ts';
import type { Attended } from '../health/attend.ts';
import { type Complaint, isWatched } from '../health/limits.ts';
import type { HealthWatch } from '../health/watch.ts';
import { canLeaveCore } from '../native/core-limit.ts';
import type { FullHeap } from '../native/full-heap.ts';
import { watchFullHeap } from '../native/full-heap-watch.ts';
import type { HeldDeath, Hold, HoldPlace } from '../native/hold.ts';
import { type NearLimitWatch, watchNearLimit } from '../native/near-limit-watch.ts';
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
  /** The complaint because of which the supervisor ended the program. */
  complaint?: Complaint;
  bundle?: string;
  verdictKind?: string;
  /** Set while its heap is being read; the bundle is written afterwards. */
  later?: ReadingEnd;
}

export interface ReadingEnd {
  /** Never rejects. */
  explained: Promise<{ bundle?: string }>;
  /** Stops reading; the bundle is written without the heap. */
  giveUp(): void;
}

export interface LifeStart {
  options: RunOptions;
  ledger: LedgerBuffer;
  attempt: number;
  /** Variables for this run only. */
  extra: Record<string, string>;
  /** Whether the supervisor ends an unhealthy program. */
  stopsUnhealthy: boolean;
  /** When the problem of the previous life was noticed (performance.now). */
  troubleAt: number | undefined;
  /** Whether the heap of an earlier life is being read. */
  isReadingHeap(): boolean;
  onWell(pid: number): void;
  /** The program is unhealthy and is left running. */
  onUnhealthy(because: string): void;
}

/** Imports what an unhealthy program needs as soon as a check has doubts. */
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
  /** When a problem was noticed (performance.now). */
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

  /** Stops the health checks, because the program was asked to end. */
  dismiss(): void {
    this.#watch?.stop();
  }

  /** Resolves when the program has ended and its end was explained. Rejects if it can't be started. */
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
      // Without a core, aborting would only change how the program ends.
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
    const counted = this.#countStart(child);
    void this.#watchOver(child);
    // What drops NODE_OPTIONS in the first life does so in every life, so one report is enough.
    const unrecorded = attempt === 0 ? new UnrecordedWatch(child.pid, noteUnrecorded(options)) : undefined;
    const hold = place && (await this.#startHold(child, place));
    const heapWatch = this.#watchHeap(child);
    const nearLimit = this.#watchNearLimit(child);
    const ended = await child.ended.finally(() => unrecorded?.close());
    await counted;
    nearLimit?.stop();
    const fullHeap = (await heapWatch?.end()) ?? (await this.#heapOfKilled(ended, nearLimit));
    // Reads the withheld values now, because they are removed with the session's folder.
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
    // Reading a heap takes seconds; the next life does not wait for it.
    const later = { explained: ending, giveUp: () => fullHeap.reading?.stop() };
    const killedKind = nearLimit?.hasKilled ? 'system-out-of-memory' : 'killed';
    return { ...known, verdictKind: fullHeap.isOfKilled ? killedKind : 'heap-out-of-memory', later };
  }

  async #countStart({ session }: RunningChild): Promise<void> {
    const { dir, countsStarts } = this.#start.options;
    if (!countsStarts || !session) return;
    const { noteStart } = await import('../../bundle/keep/starts.ts');
    noteStart(dir, { session: session.id, program: session.facts.program });
  }

  async #countEnd({ session }: RunningChild, bundle: string): Promise<void> {
    const { dir, countsStarts } = this.#start.options;
    if (!countsStarts || !session) return;
    const { noteEnd } = await import('../../bundle/keep/starts.ts');
    noteEnd(dir, { bundle, program: session.facts.program });
  }

  #watchHeap({ pid, diagnostics }: RunningChild) {
    const { options, isReadingHeap } = this.#start;
    if (!options.readHeapApart) return undefined;
    return watchFullHeap(pid, diagnostics, { readApart: options.readHeapApart, isBusy: isReadingHeap });
  }

  #watchNearLimit({ pid }: RunningChild): NearLimitWatch | undefined {
    const { options, isReadingHeap, extra } = this.#start;
    const { readHeapApart: readApart, dir } = options;
    if (!readApart) return undefined;
    return watchNearLimit(pid, { ...process.env, ...extra }, { readApart, dir, isBusy: isReadingHeap });
  }

  /** From the copy that was taken when memory was near its limit, if there is one. */
  async #heapOfKilled(
    ended: ChildExit,
    nearLimit: NearLimitWatch | undefined,
  ): Promise<FullHeap | undefined> {
    const wasOurs = this.#sent.some(({ name }) => name === 'SIGKILL');
    if (inferSignal(ended).signal === 'SIGKILL' && !wasOurs) return nearLimit?.read();
    await nearLimit?.discard();
    return undefined;
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
    // After a false alarm the watch continues. A program that is unhealthy and left running already has its bundle.
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
    if (end.bundle !== undefined) await this.#countEnd(child, basename(end.bundle));
    const { asExit, ...explanation } = end;
    const event = { event: 'exit', child: child.pid, ranMs, ...exit, ...explanation } as const;
    if (end.bundle !== undefined) await ledger.write(event);
    else ledger.hold(event);
    return { ...explanation, ...(asExit && { exit: asExit }) };
  }
}

/** Reported while the program runs, because the bundle of a later failure will lack everything that the recorder knows. */
function noteUnrecorded({ note }: RunOptions): (name: string) => void {
  return (name) => note(adviceOnUnrecorded([name]));
}

/** Recorded before the program is killed, so that a concurrent sweep does not explain this death a second time. */
function noteExplained({ folder, facts }: NonNullable<RunningChild['session']>, bundle: string): void {
  try {
    writeSession(folder, { ...facts, bundle: basename(bundle) });
  } catch {
    // The death may then be explained twice.
  }
}
