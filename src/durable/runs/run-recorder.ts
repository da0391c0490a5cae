/**
 * Adds the records of one run, under its fsync policy. The first record that can't be stored ends the run for this process:
 * all further calls throw that error, because a step whose record is lost must not continue.
 */
import type { AgentdumpError } from '../../errors.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import type { RecordCodec } from '../records/codec.ts';
import type {
  ApprovalRecord,
  CheckpointRecord,
  RunRecord,
  StepRecord,
  ValueRecord,
} from '../records/layout.ts';
import type { MaybePromise, RunHandle, RunRest } from '../stores/store.ts';

export interface RecordOf {
  durableRun: RunRecord;
  durableStep: StepRecord;
  durableValue: ValueRecord;
  durableApproval: ApprovalRecord;
  durableCheckpoint: CheckpointRecord;
}
export type RecordName = keyof RecordOf;

export class RunRecorder {
  /** Why nothing more can be recorded. */
  broken: Error | undefined;
  /** Records that were added by this process. */
  count = 0;
  /** How many of them are not known to be stored yet. */
  inFlight = 0;
  /** Called once, with that reason. */
  onBroken: (error: Error) => void = () => {};
  readonly #handle: RunHandle;
  readonly #codec: RecordCodec;
  readonly #syncsEach: boolean;

  constructor(handle: RunHandle, codec: RecordCodec, fsync: 'none' | 'step' | 'checkpoint') {
    this.#handle = handle;
    this.#codec = codec;
    this.#syncsEach = fsync === 'step';
    handle.onLost?.((error) => this.breakWith(error));
  }

  /** Like `breakWith`, without a notification: what is running is not disturbed. */
  breakQuietly(error: Error): void {
    this.broken ??= error;
  }

  requireWhole(): void {
    if (this.broken) throw this.broken;
  }

  /** Ends the run for this process. */
  breakWith(error: Error): Error {
    if (this.broken) return error;
    this.broken = error;
    this.onBroken(error);
    return error;
  }

  /** For a run that is broken for this process, and that this process still holds. */
  async addLast<Name extends RecordName>(name: Name, facts: RecordOf[Name]): Promise<void> {
    await this.#handle.append(recordKinds[name], this.#codec.encode(facts), this.#syncsEach);
  }

  add<Name extends RecordName>(name: Name, facts: RecordOf[Name]): MaybePromise<number> {
    return this.#append(name, this.#codec.encode(facts), this.#syncsEach);
  }

  /**
   * Throws `usage` or `locked` for a value that can't be stored; the run continues after that. `last`: the state of the run
   * from then on.
   */
  addWith<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    value: unknown,
    last?: RunRest,
  ): MaybePromise<number> {
    return this.#append(name, this.#codec.encodeWith(facts, value), this.#syncsEach, last);
  }

  /** For a value that was encoded before. */
  addText<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    text: string,
    value: unknown,
  ): MaybePromise<number> {
    return this.#append(name, this.#codec.encodeText(facts, text, value), this.#syncsEach);
  }

  /**
   * Like `addWith`, for a record whose result the program may see before it is stored: it is stored before whatever the
   * program records next, and nothing begins until its start is stored. Undefined, unless the policy waits for each record.
   */
  addAhead<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    value: unknown,
  ): Promise<number> | undefined {
    const added = this.addWith(name, facts, value);
    if (typeof added === 'number') return undefined;
    if (this.#syncsEach) return added;
    // A lost record ends the run: its next call throws the error.
    added.catch(() => {});
    return undefined;
  }

  addSynced<Name extends RecordName>(name: Name, facts: RecordOf[Name]): MaybePromise<number> {
    return this.#append(name, this.#codec.encode(facts), true);
  }

  #append(
    name: RecordName,
    payload: string | Uint8Array,
    sync: boolean,
    last?: RunRest,
  ): MaybePromise<number> {
    this.requireWhole();
    this.count++;
    try {
      const added = this.#handle.append(recordKinds[name], payload, sync, last);
      return typeof added === 'number' ? added : this.#settle(added);
    } catch (error) {
      // A value that is too large only fails its step: nothing was written, and the run continues.
      if ((error as AgentdumpError).code === 'over-limit') throw error;
      throw this.breakWith(error as Error);
    }
  }

  async #settle(added: Promise<number>): Promise<number> {
    this.inFlight++;
    try {
      return await added;
    } catch (error) {
      throw this.breakWith(error as Error);
    } finally {
      this.inFlight--;
    }
  }
}
