/**
 * The supervisor's events on their way to the ledger: held in memory, with their times, until one of them is worth a
 * file. So a program that ran once and ended well leaves nothing, and the ledger's code is not even loaded.
 */
import type { Ledger, LedgerEvent } from './ledger.ts';

export class LedgerBuffer {
  readonly #dir: string;
  readonly #id: string;
  readonly #held: { event: LedgerEvent; at: string }[] = [];
  #ledger: Ledger | undefined;

  /** `id`: of this supervisor; the ledger's file bears it. */
  constructor(dir: string, id: string) {
    this.#dir = dir;
    this.#id = id;
  }

  get isWritten(): boolean {
    return this.#ledger !== undefined;
  }

  /** Kept in memory while nothing is written yet. */
  hold(event: LedgerEvent): void {
    this.#held.push({ event, at: new Date().toISOString() });
    if (this.#ledger) this.#flush(this.#ledger);
  }

  /** Writes the event, after those that were held. */
  async write(event: LedgerEvent): Promise<void> {
    this.#held.push({ event, at: new Date().toISOString() });
    this.#ledger ??= new (await import('./ledger.ts')).Ledger(this.#dir, this.#id);
    this.#flush(this.#ledger);
  }

  close(): void {
    this.#ledger?.close();
  }

  #flush(ledger: Ledger): void {
    for (const { event, at } of this.#held.splice(0)) ledger.add(event, at);
  }
}
