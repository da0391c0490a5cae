/**
 * Tells a signal that came while the host listened from one that came before, but that this thread received only afterwards,
 * because it had no processor until then. Node delivers the first one to the host. The second one reaches this thread alone:
 * left to the host, it would be lost. As long as the host's listeners have just changed, a signal is therefore doubtful, and
 * the main thread compares the two counts once its loop has turned (start-watch.ts). Later no signal that came before the change
 * can be unread, and nothing is compared.
 */
import { cells, deliveredByNodeCell, deliveredCell } from './protocol.ts';

export class HeardSignals {
  readonly #shared: Int32Array;
  readonly #heard: number[];
  /** What was delivered at the last tick. */
  #delivered: number[];
  /** Of the host, at the last tick and at the one before. */
  #changes = -1;
  #earlierChanges = -1;
  /** Bundles of the main thread, in the same way. */
  #writes = 0;
  #earlierWrites = 0;

  constructor(shared: Int32Array, signals: number) {
    this.#shared = shared;
    this.#heard = new Array<number>(signals).fill(0);
    this.#delivered = [...this.#heard];
  }

  /**
   * To be called once per tick. Between two ticks this thread receives everything that had come before the first: what was
   * delivered until then and not received since had come before this thread held it, or was emitted by the program.
   */
  tick(): void {
    this.#earlierChanges = this.#changes;
    this.#changes = Atomics.load(this.#shared, cells.hostChanges);
    this.#earlierWrites = this.#writes;
    this.#writes = Atomics.load(this.#shared, cells.writes);
    for (const [at, before] of this.#delivered.entries())
      this.#heard[at] = Math.max(this.#heard[at] ?? 0, before);
    this.#delivered = this.#delivered.map((_, at) => Atomics.load(this.#shared, deliveredCell(at)));
  }

  /** This thread holds the signals from now on, and receives nothing that was delivered before. */
  begin(): void {
    for (const [at, heard] of this.#heard.entries())
      this.#heard[at] = Math.max(heard, Atomics.load(this.#shared, deliveredCell(at)));
  }

  /**
   * The signal at this index was received while the host listened. `heard` is how often it was; `isBesideWrite` is set if it may
   * have come while the main thread wrote a bundle.
   */
  hear(at: number): { heard: number; isDoubtful: boolean; isBesideWrite: boolean } {
    const heard = (this.#heard[at] ?? 0) + 1;
    this.#heard[at] = heard;
    const load = (cell: number): number => Atomics.load(this.#shared, cell);
    return {
      heard,
      isDoubtful: load(cells.hostChanges) !== this.#earlierChanges,
      isBesideWrite: load(cells.excused) > 0 || load(cells.writes) !== this.#earlierWrites,
    };
  }

  /**
   * The signal at this index was received while the host did not listen. Whether it is one that Node had delivered before, to a listener
   * that is gone (`once`), so that it must not kill: this thread had no processor until now.
   */
  isHandled(at: number): boolean {
    const heard = this.#heard[at] ?? 0;
    if (Atomics.load(this.#shared, deliveredByNodeCell(at)) <= heard) return false;
    this.#heard[at] = heard + 1;
    return true;
  }
}
