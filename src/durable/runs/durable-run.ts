/**
 * A durable run that this process holds: its log, its recorder, and the state that its steps share. open-run.ts and
 * perform-run.ts open and end it; durable-step.ts is a single step.
 */
import { setMaxListeners } from 'node:events';
import { AgentdumpError } from '../../errors.ts';
import { never, type OpenWait, OpenWaits } from '../approvals/open-waits.ts';
import type { DurableRunOptions } from '../options.ts';
import type { CheckpointEvent, Checkpoints } from '../records/checkpoint.ts';
import type { RecordCodec } from '../records/codec.ts';
import type { RunEnd, StepKind } from '../records/layout.ts';
import { type HashInput, hashingWithout } from '../records/masked-input.ts';
import { AbortFollower } from '../steps/attempt.ts';
import type { CallPosition } from '../steps/call-position.ts';
import { callingPlace } from '../steps/calling-place.ts';
import type { ContextStores } from '../steps/captured/context-stores.ts';
import { recognise, type UnknownCall } from '../steps/captured/recognise.ts';
import { ReplacedValues } from '../steps/captured/replaced-values.ts';
import { changed, LiveScope, type StepCall } from '../steps/claim.ts';
import { FailureTrail } from '../steps/failure-trail.ts';
import { orderedItems } from '../steps/ordered-items.ts';
import { RefusedCalls } from '../steps/refused-calls.ts';
import { ReplayOrder } from '../steps/replay-order.ts';
import { scopeOf } from '../steps/step-path.ts';
import type { DurableStore, MaybePromise, RunRest } from '../stores/store.ts';
import { CancelError, cancelKey, signalKey } from './calls-from-outside.ts';
import { CancelWatch } from './cancel-watch.ts';
import { explainByFailure } from './failed-before.ts';
import type { StepEntry } from './log-entries.ts';
import { explainByLoss } from './lost-records.ts';
import { joinVersion, type RunLog } from './run-log.ts';
import type { RecordName, RecordOf, RunRecorder } from './run-recorder.ts';

export interface RunParts {
  id: string;
  name: string;
  options: DurableRunOptions;
  store: DurableStore;
  log: RunLog;
  codec: RecordCodec;
  recorder: RunRecorder;
  checkpoints: Checkpoints;
  notify: (line: string) => void;
  /** False: it was not cancelled when it was taken. */
  hasAnswers: boolean;
}

/** A `Place`. */
interface VersionCall {
  scoped: { scope: LiveScope; path: string; isLeft: boolean };
  position: CallPosition;
}

export class DurableRun {
  readonly id: string;
  readonly name: string;
  readonly options: DurableRunOptions;
  readonly store: DurableStore;
  readonly log: RunLog;
  readonly codec: RecordCodec;
  readonly recorder: RunRecorder;
  readonly checkpoints: Checkpoints;
  /**
   * Aborts when the host's signal does, until the run is over for this process; the host's signal may live as long as a
   * worker.
   */
  readonly signal: AbortSignal | undefined;
  /**
   * Aborts when nothing more can be recorded, such as when another worker has taken the run, and when the run was cancelled.
   */
  readonly lost = new AbortController();
  readonly refused = new RefusedCalls(this.lost.signal);
  readonly failures = new FailureTrail();
  readonly notify: (line: string) => void;
  readonly hasAnswers: boolean;
  /** Of a step's input, without what the host masks. */
  readonly hashInput: HashInput;
  readonly order: ReplayOrder;
  /** What the program's AsyncLocalStorages had when its code began. */
  storesAtStart: ContextStores | undefined;
  /** Steps whose functions are running. */
  readonly pending = { steps: 0 };
  readonly waits: OpenWaits;
  /** By name, the signals that waits of this run received: the number of each, and the wait's path. */
  readonly #takenSignals = new Map<string, Map<number, string>>();
  readonly #follower: AbortFollower | undefined;
  readonly #cancelWatch: CancelWatch;
  readonly replaced: ReplacedValues;
  #isOver = false;

  constructor(parts: RunParts) {
    this.id = parts.id;
    this.name = parts.name;
    this.options = parts.options;
    this.store = parts.store;
    this.log = parts.log;
    this.codec = parts.codec;
    this.recorder = parts.recorder;
    this.checkpoints = parts.checkpoints;
    this.#follower = parts.options.signal && new AbortFollower([parts.options.signal]);
    this.signal = this.#follower?.signal;
    this.hasAnswers = parts.hasAnswers;
    this.#cancelWatch = new CancelWatch(this);
    this.notify = parts.notify;
    this.replaced = new ReplacedValues(parts.notify);
    this.hashInput = hashingWithout(parts.options.masks);
    this.waits = new OpenWaits(parts.store, parts.id);
    // One listener per running step and wait. Many are not a leak, about which Node would warn.
    setMaxListeners(0, this.lost.signal, ...(this.signal ? [this.signal] : []));
    this.recorder.onBroken = (error) => this.lost.abort(error);
    this.order = new ReplayOrder({
      items: this.isStrict ? orderedItems(parts.log) : [],
      notify: parts.notify,
      isOfProgram: () => callingPlace.getStore()?.scoped.run === this,
      isAtWork: () => this.pending.steps > 0 || this.waits.count > 0,
      recognise: (missing, calls) => {
        const steps = missing.flatMap(({ path }) => this.log.steps.get(path) ?? []);
        return recognise(steps, calls as UnknownCall[]);
      },
      onChanged: ({ path }, asked) => this.breakWith(this.#neverAsked(path, asked)),
    });
  }

  /** Starts to watch whether the run is cancelled from outside. */
  watchForCancel(): Promise<void> {
    return this.#cancelWatch.begin();
  }

  /** The program begins to run. */
  begin(): void {
    this.order.begin();
  }

  /** The input that it was started with. */
  get input(): unknown {
    return this.log.name === undefined ? this.options.input : this.log.readInput();
  }

  get isOnlyWaiting(): boolean {
    const isAtWork = this.pending.steps > 0 || this.recorder.inFlight > 0;
    return this.waits.count > 0 && !isAtWork && this.order.isThrough;
  }

  /**
   * Removes the run from memory while it waits. Returns when it is due again, and a last look for news that arrived
   * meanwhile.
   */
  rest(): { dueAtMs: number | 'never'; hasNews: () => Promise<boolean> } {
    const dueAtMs = this.waits.untilMs;
    const waits = this.waits.rest();
    this.recorder.breakQuietly(
      new AgentdumpError('held', `run ${this.id} was put to rest`, { run: this.id }),
    );
    const hasNews = async () => {
      if (await this.store.findAnswer(this.id, cancelKey)) return true;
      for (const { look } of waits) if (await look()) return true;
      return false;
    };
    return { dueAtMs, hasNews };
  }

  /** The run as a whole, by its host or because nothing more can be recorded: what ends by that has no outcome. */
  get isCalledOff(): boolean {
    return this.lost.signal.aborted || (this.signal?.aborted ?? false);
  }

  get cancelled(): CancelError | undefined {
    const { aborted, reason } = this.lost.signal;
    return aborted && reason instanceof CancelError ? reason : undefined;
  }

  /** Forgets what a given-up try has recorded: the next one does it again, and receives the same signals. */
  forgetBelow(path: string): void {
    this.log.forgetBelow(path);
    this.waits.leaveBelow(path);
    for (const taken of this.#takenSignals.values())
      for (const [slot, by] of taken) if (by.startsWith(`${path}/`)) taken.delete(slot);
  }

  /** The next signal of this name that no wait of this run has received, for this wait. */
  async takeSignal(name: string, wait: OpenWait): Promise<{ value: unknown; slot: number } | undefined> {
    let taken = this.#takenSignals.get(name);
    if (!taken) {
      taken = this.log.takenSignals(name);
      this.#takenSignals.set(name, taken);
    }
    for (let slot = 0; ; slot++) {
      if (taken.has(slot)) continue;
      const payload = await this.store.findAnswer(this.id, signalKey(name, slot));
      if (!payload) return undefined;
      if (taken.has(slot)) continue;
      const value = this.codec.decode(payload).readValue();
      // If the wait was left before the look was done, the signal remains available.
      if (!this.waits.isLeft(wait)) taken.set(slot, wait.path);
      return { value, slot };
    }
  }

  /** The program called the wait off: a signal that it has found meanwhile remains available. */
  leaveWait({ left, path }: OpenWait): void {
    left.abort();
    for (const taken of this.#takenSignals.values())
      for (const [slot, by] of taken) if (by === path) taken.delete(slot);
  }

  get isStrict(): boolean {
    return this.options.shape !== 'loose';
  }

  /** A step that outlives its run, because it was not awaited, can't be recorded any more. */
  requireRunning(): void {
    if (this.#isOver)
      throw new AgentdumpError('usage', `run ${this.id} is over: a step was not awaited`, {
        argument: 'step',
      });
  }

  /** Calls `work` as code of ours, so that what it starts is not attributed to the program. */
  outside<Result>(work: () => Result): Result {
    return callingPlace.exit(work);
  }

  /** The recorded step that the call corresponds to. Throws `changed`, which ends the run for this process. */
  claim(scope: LiveScope, call: StepCall, at: CallPosition): StepEntry | undefined {
    try {
      return scope.claim(call, at, this.isStrict ? this.order : undefined);
    } catch (error) {
      throw (error as AgentdumpError).code === 'changed' ? this.breakWith(error as Error) : error;
    }
  }

  /** Checks that the program has called everything that is recorded. Rejects with `changed` if it has not. */
  async requireAllClaimed(scope: LiveScope): Promise<void> {
    if (!this.isStrict) return;
    const left = scope.recorded?.isParallel ? undefined : scope.nextUnclaimed();
    if (left) throw this.breakWith(changed(scope, [], left));
    await this.order.through('', 'the end');
    const { neverAsked } = this.order;
    if (neverAsked) throw this.breakWith(this.#neverAsked(neverAsked.path, []));
  }

  /** Ends the run for this process with `changed`, or if that may be due to lost records, with an error that tells of them. */
  breakWith(error: Error): Error {
    return this.recorder.breakWith(explainByLoss(this, explainByFailure(this, error)));
  }

  #neverAsked(path: string, asked: string[]): AgentdumpError {
    const scope = new LiveScope(scopeOf(path), this.log.scopes.get(scopeOf(path)));
    const expected = scope.recorded?.entries.find((entry) => entry.path === path);
    return changed(scope, asked, expected ?? path);
  }

  /** True in runs that get here for the first time; false in a run that was recorded by earlier code. */
  takeVersion(
    { scoped: { scope, path, isLeft }, position }: VersionCall,
    name: string,
  ): MaybePromise<boolean> {
    if (isLeft) return never();
    const id = joinVersion(path, name);
    const recorded = this.log.versions.get(id);
    if (recorded !== undefined) return recorded;
    const taken = !scope.hasRecordedBehind(position);
    this.log.versions.set(id, taken);
    const added = this.recorder.add('durableRun', { event: 'version', scope: path, name, taken });
    return typeof added === 'number' ? taken : added.then(() => taken);
  }

  /** Records an end with its error, or with the error's name and redacted message if it can't be stored unchanged. */
  addError<Name extends RecordName>(name: Name, facts: RecordOf[Name], error: unknown): MaybePromise<number> {
    return this.#orCleaned(error, (kept) => this.recorder.addWith(name, facts, kept));
  }

  /** `rest`: the state of the run from then on. A child remains due until its parent was told of its end. */
  addEnd(status: RunEnd, of: number[], value: unknown, rest: RunRest): MaybePromise<number> {
    const facts = { event: 'end', status, ...(of.length > 0 && { of }) } as const;
    const last = this.log.parent === undefined ? rest : undefined;
    const add = (kept: unknown) => this.recorder.addWith('durableRun', facts, kept, last);
    return status === 'finished' ? add(value) : this.#orCleaned(value, add);
  }

  #orCleaned(error: unknown, add: (kept: unknown) => MaybePromise<number>): MaybePromise<number> {
    try {
      return add(error);
    } catch (refusal) {
      if (this.recorder.broken) throw refusal;
      return add(this.codec.cleanError(error));
    }
  }

  /** The host's error for a value that can't be stored. */
  refuse(error: AgentdumpError, message: string): AgentdumpError {
    return new AgentdumpError(error.code, message, { run: this.id, ...error.details }, error);
  }

  noteFinished(kind: StepKind): void {
    this.failures.forget();
    this.checkpoints.noteEvent(kind satisfies CheckpointEvent);
  }

  noteFailure(error: unknown, seq: number): void {
    this.failures.note(error, seq);
  }

  /** Also for a run that is put to rest: its program never continues, so nothing of it may be left behind. */
  end(): void {
    this.#isOver = true;
    this.order.end();
    this.#cancelWatch.end();
    this.#follower?.end();
    // Losers of a race stop waiting, and no longer keep the process alive.
    this.waits.rest();
    this.checkpoints.close();
  }
}
