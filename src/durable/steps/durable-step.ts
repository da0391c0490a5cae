/**
 * One call of a step within a durable run: returns what is recorded, settles what is in doubt, or runs the function between
 * its start record and its end record, which is written in the tick in which the function returns. Everything up to the start
 * record happens in the tick of the call, so that steps are recorded in the order in which they were called.
 */

import { currentScope } from '../../agent/api/api-scope.ts';
import { isAbort } from '../../agent/http/call-error.ts';
import type { AgentdumpError } from '../../errors.ts';
import { never } from '../approvals/open-waits.ts';
import type { DurableWork, Effect, RetryPolicy } from '../options.ts';
import { requireStorable } from '../records/classes.ts';
import type { Doubt, Spent, StepEnd } from '../records/layout.ts';
import { usageOf } from '../records/usage.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import { hasEnded, type StepEntry } from '../runs/log-entries.ts';
import { type CallLabel, type Place, ScopedRun } from '../runs/scoped-run.ts';
import { type CalledOffBy, pause, StepLimits } from './attempt.ts';
import { type CallPosition, positionFacts } from './call-position.ts';
import { capturedNow, captureOf } from './captured/captured.ts';
import { ownStores } from './captured/context-stores.ts';
import { isOnMainLine as isOnMainLineNow } from './captured/main-line.ts';
import { describeCall } from './claim.ts';
import { endUnsettled, isInDoubt, type Settled, settleDoubt } from './in-doubt.ts';
import { beginsInTurn, isSettled, turnToBegin } from './ordered-items.ts';
import { lastLabel } from './step-path.ts';
import type { WantedStep } from './wanted-step.ts';

export async function performStep(place: Place, given: WantedStep): Promise<unknown> {
  const { scoped, position } = place;
  const { run, scope } = scoped;
  if (run.waits.isRested || scoped.isLeft || run.refused.addCall(place)) return never();
  run.recorder.requireWhole();
  run.requireRunning();
  const wanted = withCapture(place, given);
  const entry = run.claim(scope, wanted, position);
  const path = entry?.path ?? scope.pathOf(wanted);
  const label = { text: lastLabel(path) };
  const call: PlacedCall = { wanted, position, entry, path, label };
  place.moveBehind(label);
  scope.open++;
  try {
    const result = await settle(scoped, call);
    return scoped.isLeft ? never() : result;
  } catch (error) {
    if (scoped.isLeft) return never();
    throw error;
  } finally {
    scope.open--;
    wanted.onEnd?.();
  }
}

/**
 * What the function captures is asked of V8 only if nothing else distinguishes the call from one in another branch, or if that has
 * distinguished the recorded ones.
 */
function withCapture(place: Place, wanted: WantedStep): WantedStep {
  const {
    scoped: { run, scope },
    position,
  } = place;
  const { key, input, host } = wanted;
  if (!host || key !== undefined || input !== undefined || !run.isStrict) return wanted;
  if (!position.isRaw && !scope.areTold(wanted, position)) return wanted;
  const stores = ownStores(run.storesAtStart, (store) => store === place || store === currentScope());
  const capture = captureOf({ host, stores }, run.hashInput);
  if (!capture) return wanted;
  const { captured, values } = capture;
  const known = scope.sharedBy(wanted, captured);
  const call = { host, stores, captured };
  const shared = known.note(call, values, capturedNow);
  const isOnMainLine = position.isRaw && scope.open === 0 && isOnMainLineNow();
  const told = { ...(shared.length > 0 && { shared }), ...(isOnMainLine && { isOnMainLine }) };
  return { ...wanted, captured, ...told, onEnd: () => known.end(call) };
}

async function settle(scoped: ScopedRun, call: PlacedCall): Promise<unknown> {
  const { run } = scoped;
  const { entry, wanted } = call;
  if (entry) {
    run.order.noteStart();
    if (wanted.captured)
      run.replaced.compare(entry, wanted.captured, scoped.scope.sharedBy(wanted, wanted.captured).names);
  }
  if (entry && isSettled(entry)) {
    await run.order.turnOf(entry.endSeq);
    entry.held = undefined;
    return replay(run, entry);
  }
  if (entry && beginsInTurn(entry)) {
    await run.order.turnOf(turnToBegin(entry));
    entry.held = undefined;
    if (scoped.isLeft) return undefined;
  }
  // New work only begins once the program has shown that it is the one that was recorded.
  if (!entry && !run.order.mayBegin(call.path)) {
    const unknown = scoped.scope.unknown(wanted, call.position, run.order);
    const found = await run.order.through(call.path, describeCall(wanted), unknown);
    const recorded = found && run.log.steps.get(found.path);
    if (recorded) {
      call.label.text = lastLabel(recorded.path);
      return settle(scoped, { ...call, entry: recorded, path: recorded.path });
    }
  }
  const settled = entry && isInDoubt(entry) ? await settleInTurn(scoped, wanted, entry) : undefined;
  if (scoped.isLeft) return undefined;
  if (!settled) return new StepTry(scoped, call).perform();
  if ('error' in settled) throw settled.error;
  return settled.result;
}

/** Like `settleDoubt`, with the end delivered in order. */
async function settleInTurn(
  scoped: ScopedRun,
  wanted: WantedStep,
  entry: StepEntry,
): Promise<Settled | undefined> {
  const { run } = scoped;
  let settled: Settled | undefined;
  try {
    const { returns } = wanted.options;
    if (returns) requireStorable(returns, entry.path);
    settled = await settleDoubt(scoped, wanted, entry);
  } catch (error) {
    if (run.isCalledOff || run.recorder.broken) throw error;
    await passBy(run, entry, await endUnsettled(run, entry, error));
    throw error;
  }
  if (settled) await passBy(run, entry, settled.ticket);
  return settled;
}

async function passBy(run: DurableRun, entry: StepEntry, ticket?: number): Promise<void> {
  run.order.drop((other) => other.startsWith(`${entry.path}/`));
  await endOf(run, entry.path, entry, ticket);
}

/** The end is delivered after everything that is recorded, or at the place of the end that was delivered before. */
function endOf(
  { order }: DurableRun,
  path: string,
  entry: StepEntry | undefined,
  ticket?: number,
): Promise<void> | undefined {
  if (!entry || !hasEnded(entry)) return order.giveNew(path, ticket);
  order.dropTicket(ticket);
  return order.turnOf(entry.endSeq);
}

/** A step as it is called, its position, and its record if there is one. */
interface PlacedCall {
  wanted: WantedStep;
  position: CallPosition;
  entry: StepEntry | undefined;
  path: string;
  /** What the calls after it are positioned behind. */
  label: CallLabel;
}

/** The entry drops its result, because otherwise all results of a long run would remain in memory. */
function replay(run: DurableRun, entry: StepEntry): unknown {
  const outcome = entry.readOutcome();
  entry.readOutcome = () => undefined;
  if (entry.state !== 'failed') return outcome;
  run.noteFailure(outcome, entry.seq);
  throw outcome;
}

/** A running step. The object itself is passed to the host's function. */
class StepTry implements DurableWork {
  readonly path: string;
  readonly name: string;
  readonly inDoubt: boolean;
  attempt: number;
  #failures: number;
  #seq = -1;
  /** The ticket of the end, once that is recorded. */
  #ticket: number | undefined;
  readonly #scoped: ScopedRun;
  readonly #wanted: WantedStep;
  readonly #position: CallPosition;
  readonly #entry: StepEntry | undefined;
  readonly #calledOffBy: CalledOffBy;
  #limits: StepLimits;

  constructor(scoped: ScopedRun, { wanted, position, entry, path }: PlacedCall) {
    this.#scoped = scoped;
    this.#wanted = wanted;
    this.#position = position;
    this.#entry = entry;
    this.path = path;
    if (entry?.state === 'retrying') scoped.run.forgetBelow(path);
    this.name = wanted.name;
    this.attempt = (entry?.attempts ?? 0) + 1;
    this.inDoubt = entry !== undefined && isInDoubt(entry);
    this.#failures = entry?.failures ?? 0;
    const { run } = scoped;
    this.#calledOffBy = { host: [run.signal, wanted.options.signal], lost: run.lost.signal };
    this.#limits = new StepLimits(this.#calledOffBy, wanted.options.timeoutMs);
  }

  get id(): string {
    return this.path;
  }

  get effect(): Effect {
    return { key: this.#scoped.effectKey(this.path, this.#wanted.input) };
  }

  /** Of this try. */
  get signal(): AbortSignal {
    return this.#limits.signal;
  }

  /** A getter, so that hosts may destructure it. */
  get spent(): (cost: Spent) => void {
    return (cost) => {
      const added = this.#scoped.run.recorder.add('durableStep', { event: 'spent', of: this.#seq, ...cost });
      // A lost record ends the run, and the end of the step receives the error.
      if (added instanceof Promise) added.catch(() => {});
    };
  }

  async perform(): Promise<unknown> {
    const { run } = this.#scoped;
    // A nested run consists only of its steps, so it is not counted.
    const atWork = this.#wanted.kind === 'run' ? 0 : 1;
    run.pending.steps += atWork;
    try {
      for (;;) {
        const refusal = this.#findRefusal();
        if (refusal) throw await this.#refuse(refusal.error);
        const started = run.recorder.add('durableStep', this.#start());
        this.#seq = typeof started === 'number' ? started : await started;
        let hasReturned = false;
        const within = new ScopedRun(run, this.path, this.#scoped);
        // The interval between a return and its record is kept short, because a death in it leaves the step in doubt; so the
        // bundle is updated afterwards.
        const inner = async () => {
          const work = () => this.#wanted.work(this);
          const result = await (this.#limits.isLimited ? this.#limits.hold(work) : work());
          hasReturned = true;
          return this.#finish(result);
        };
        try {
          const { watch = (work) => work() } = this.#wanted;
          const result = await within.enter(() => watch(inner, this));
          return hasReturned ? result : await this.#finish(result);
        } catch (error) {
          if (hasReturned) throw error;
          const pauseMs = await this.#settleFailure(error);
          within.leave();
          // Whatever cuts the pause short is found before the next try begins.
          await pause(pauseMs, this.#calledOffBy).catch(() => {});
          if (this.#scoped.isLeft) return undefined;
          this.#beginAgain();
        }
      }
    } finally {
      this.#limits.end();
      run.pending.steps -= atWork;
      if (run.recorder.broken) run.order.dropTicket(this.#ticket);
      else {
        const turn = endOf(run, this.path, this.#entry, this.#ticket);
        if (turn) await turn;
      }
    }
  }

  /**
   * Why the function is not called (again). Recorded like a failure, because the program acts on the error, and a resume that
   * finds no record of it would take what follows for a change of the program. What ends the run for this process is thrown
   * instead: a resume makes the call again.
   */
  #findRefusal(): { error: unknown } | undefined {
    const { run } = this.#scoped;
    const { returns, signal } = this.#wanted.options;
    if (signal?.aborted && !run.isCalledOff) return { error: signal.reason };
    this.#limits.requireWanted();
    try {
      if (returns) requireStorable(returns, this.path);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /**
   * Records the error as the step's outcome, and returns it. No record says that the function was started, so a death leaves the
   * step as its last try has left it.
   */
  async #refuse(error: unknown): Promise<unknown> {
    const { run } = this.#scoped;
    const entry = this.#entry;
    if (entry && this.inDoubt && this.#seq < 0) {
      this.#ticket = await endUnsettled(run, entry, error);
      return error;
    }
    if (this.#seq < 0) this.#seq = entry?.seq ?? (await run.recorder.add('durableStep', this.#start(true)));
    return this.#fail(error);
  }

  #beginAgain(): void {
    const { run } = this.#scoped;
    this.attempt++;
    this.#limits = new StepLimits(this.#calledOffBy, this.#wanted.options.timeoutMs);
    run.forgetBelow(this.path);
    run.order.drop((other) => other.startsWith(`${this.path}/`));
  }

  #start(isRefused = false) {
    const { kind, input, captured, shared, isOnMainLine } = this.#wanted;
    const { attempt } = this;
    if (input !== undefined) this.#scoped.noteInput(this.path, input);
    return {
      event: 'start',
      path: this.path,
      kind,
      ...(input !== undefined && { input }),
      ...(captured && { captured }),
      ...(shared && { shared }),
      ...(isOnMainLine && { isOnMainLine }),
      ...(attempt > 1 && { attempt }),
      ...(isRefused && { isRefused }),
      ...positionFacts(this.#position),
    } as const;
  }

  async #finish(result: unknown): Promise<unknown> {
    const { run } = this.#scoped;
    let added: Promise<number> | undefined;
    try {
      added = run.recorder.addAhead('durableStep', { ...this.#end('finished'), ...usageOf(result) }, result);
      this.#ticket = run.order.takeTicket(this.path);
    } catch (error) {
      if (run.recorder.broken) throw error;
      await this.#leaveUnkept(error as AgentdumpError);
      return result;
    }
    if (added) await added;
    run.noteFinished(this.#wanted.kind);
    return result;
  }

  /** It has returned, and its value can't be stored: that is recorded, and the host receives an error or a line now. */
  async #leaveUnkept(error: AgentdumpError): Promise<void> {
    const { run } = this.#scoped;
    const reason = error.message;
    const message = `step ${this.path} returned ${reason}`;
    if (error.code !== 'locked' || run.options.secrets !== 'forget')
      throw await this.#fail(run.refuse(error, message), { doubt: 'unkept', reason });
    const added = run.recorder.add('durableStep', { ...this.#end('unkept'), reason });
    this.#ticket = run.order.takeTicket(this.path);
    await added;
    run.notify(`${message}; it is not kept, and the step will be in doubt at a resume`);
  }

  /** Records the failure. Returns the pause before the next try, or throws the error if there is none. */
  async #settleFailure(error: unknown): Promise<number> {
    const { run } = this.#scoped;
    if (run.recorder.broken) throw run.recorder.broken;
    const { isCalledOff, isTimedOut } = this.#limits;
    const pauseMs = isCalledOff ? undefined : nextPause(this.#wanted.options.retry, ++this.#failures, error);
    if (pauseMs === undefined) {
      const isCut = (isCalledOff || isTimedOut) && isAbort(error);
      const reason = isTimedOut ? { reason: 'its time was over' } : {};
      throw await this.#fail(error, isCut ? { doubt: 'aborted', ...reason } : {});
    }
    const added = run.addError('durableStep', this.#end('retrying'), error);
    if (typeof added !== 'number') await added;
    return pauseMs;
  }

  /**
   * Records the error as the step's outcome, and returns it. A step that is called off together with its run has no outcome: it is
   * in doubt.
   */
  async #fail(error: unknown, facts: { doubt?: Doubt; reason?: string } = {}): Promise<unknown> {
    const { run } = this.#scoped;
    const isAborted = facts.doubt === 'aborted' && run.isCalledOff;
    const end = isAborted ? this.#end('aborted') : { ...this.#end('failed'), ...facts };
    const added = run.addError('durableStep', end, error);
    this.#ticket = run.order.takeTicket(this.path);
    if (typeof added !== 'number') await added;
    run.noteFailure(error, this.#seq);
    return error;
  }

  #end(status: StepEnd) {
    return { event: 'end', of: this.#seq, status } as const;
  }
}

/** Milliseconds until the try after this many failures; undefined if there is none. */
function nextPause(retry: RetryPolicy | undefined, failures: number, error: unknown): number | undefined {
  if (!retry || failures >= retry.attempts || retry.when?.(error) === false) return undefined;
  const { delayMs = 200, factor = 2, maxDelayMs = 60_000 } = retry;
  return Math.min(delayMs * factor ** (failures - 1), maxDelayMs);
}
