/**
 * Adds the records of one run, under its fsync policy. The first record that can't be kept ends the run for this process:
 * whatever is asked of it afterwards throws that same error, because a step whose record is lost must not go on.
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

interface RecordOf {
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
  /** Records that were asked for in this life. */
  count = 0;
  /** Of them those whose end is not known yet. */
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

  /** As `breakWith`, and tells nobody: what is at work is left as it is. */
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

  add<Name extends RecordName>(name: Name, facts: RecordOf[Name]): MaybePromise<number> {
    return this.#append(name, this.#codec.encode(facts), this.#syncsEach);
  }

  /** Throws `usage` or `locked` for a value that can't be kept; the run goes on after that. `last`: how it rests from then on. */
  addWith<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    value: unknown,
    last?: RunRest,
  ): MaybePromise<number> {
    return this.#append(name, this.#codec.encodeWith(facts, value), this.#syncsEach, last);
  }

  /** With a value whose text is made already. `sync` also where the policy asks for none. */
  addText<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    text: string,
    value: unknown,
  ): MaybePromise<number> {
    return this.#append(name, this.#codec.encodeText(facts, text, value), this.#syncsEach);
  }

  /**
   * As `addWith`, for what the program may hear of before the record is kept: it comes before whatever the program records next,
   * and nothing begins whose start is not kept. Undefined, unless each record is to be waited for.
   */
  addAhead<Name extends RecordName>(
    name: Name,
    facts: RecordOf[Name],
    value: unknown,
  ): Promise<number> | undefined {
    const added = this.addWith(name, facts, value);
    if (typeof added === 'number') return undefined;
    if (this.#syncsEach) return added;
    // One that is lost ends the run: whatever is asked of it next throws that.
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
      // Too large a value is its step's affair: nothing was written, and the run goes on.
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
