/**
 * Where the program's code runs: the scope of its run or of one of its steps, known by its async context, and the last call that it made
 * there.
 */
import { createHash } from 'node:crypto';
import type { CallPosition } from '../steps/call-position.ts';
import { callingPlace } from '../steps/calling-place.ts';
import { contextStores } from '../steps/captured/context-stores.ts';
import { LiveScope } from '../steps/claim.ts';
import type { DurableRun } from './durable-run.ts';

/** The scope in which code runs: the run itself, or one of its steps. */
export class ScopedRun {
  readonly run: DurableRun;
  readonly path: string;
  readonly #around: ScopedRun | undefined;
  #scope: LiveScope | undefined;
  #isLeft = false;
  /** By path, hashes of the inputs with which inner steps were first started in this process. */
  #firstInputs: Map<string, string> | undefined;

  /** `around`: the scope in which the step of this path was called. */
  constructor(run: DurableRun, path: string, around?: ScopedRun) {
    this.run = run;
    this.path = path;
    this.#around = around;
  }

  /**
   * It belongs to a try that was given up, whose calls would be mistaken for calls of the next try. Branches of it that are
   * still running continue to their next call, which never settles.
   */
  get isLeft(): boolean {
    return this.#isLeft || (this.#around?.isLeft ?? false);
  }

  leave(): void {
    this.#isLeft = true;
  }

  /**
   * The same for every try of this step, and different for every other step of any run. If an enclosing step is retried, or
   * after a rollback, the step may be called with a different input: that is a different effect, which a service that
   * remembers keys must not mistake for the first.
   */
  effectKey(path: string, input: string | undefined): string {
    const first = this.#firstInput(path) ?? input;
    const other = input === undefined || input === first ? '' : `\n${input}`;
    return createHash('sha256').update(`${this.run.id}\n${path}${other}`).digest('hex').slice(0, 32);
  }

  /** The step at this path starts with an input of this hash. */
  noteInput(path: string, input: string): void {
    const kept = this.#keptInputs;
    if (kept && !kept.has(path)) kept.set(path, input);
  }

  #firstInput(path: string): string | undefined {
    return this.run.log.firstInputs.get(path) ?? this.#keptInputs?.get(path);
  }

  /** Stored in the outermost step, which outlives all inner tries. Steps outside of any step are started once per process. */
  get #keptInputs(): Map<string, string> | undefined {
    if (!this.#around) return undefined;
    const further = this.#around.#keptInputs;
    if (further) return further;
    this.#firstInputs ??= new Map();
    return this.#firstInputs;
  }

  /** Created at the first inner step: most steps have none. */
  get scope(): LiveScope {
    this.#scope ??= new LiveScope(this.path, this.run.log.scopes.get(this.path));
    return this.#scope;
  }

  /** Calls `work` in this scope. */
  enter<Result>(work: () => Result): Result {
    if (!this.#around) this.run.storesAtStart = contextStores();
    this.run.order.drive();
    return callingPlace.run(new Place(this), work);
  }
}

/** The label of a call, which may turn out later to be the one that is recorded. */
export interface CallLabel {
  text: string;
}

/** The scope of the calling code, and the last call that it made there. */
export class Place {
  readonly scoped: ScopedRun;
  readonly #after: CallLabel;
  #isTurnOver = false;

  constructor(scoped: ScopedRun, after: CallLabel = { text: '' }) {
    this.scoped = scoped;
    this.#after = after;
    queueMicrotask(() => {
      this.#isTurnOver = true;
    });
  }

  get position(): CallPosition {
    const isSync = !this.#isTurnOver;
    return { after: this.#after.text, isSync, isRaw: !isSync && !this.scoped.run.order.isDriven };
  }

  /**
   * From now on the caller's position is after the call with this label. Must be called in the caller's own turn, without an
   * await before.
   */
  moveBehind(label: CallLabel): void {
    callingPlace.enterWith(new Place(this.scoped, label));
  }
}

/** The position of the calling code; undefined outside of durable runs. */
export function currentPlace(): Place | undefined {
  return callingPlace.getStore() as Place | undefined;
}
