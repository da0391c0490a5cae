/**
 * Buffers the supervisor's events, with their times, until one of them has to be written to the ledger. A program that runs
 * once and ends well therefore leaves no file, and the ledger's code is not even loaded.
 */
import type { Ledger, LedgerEvent } from './ledger.ts';

export class LedgerBuffer {
  readonly #dir: string;
  readonly #id: string;
  readonly #held: { event: LedgerEvent; at: string }[] = [];
  #ledger: Ledger | undefined;

  /** `id`: the supervisor's id, which is also the name of the ledger file. */
  constructor(dir: string, id: string) {
    this.#dir = dir;
    this.#id = id;
  }

  get isWritten(): boolean {
    return this.#ledger !== undefined;
  }

  /** Buffers the event, or writes it if the ledger exists already. */
  hold(event: LedgerEvent): void {
    this.#held.push({ event, at: new Date().toISOString() });
    if (this.#ledger) this.#flush(this.#ledger);
  }

  /** Writes the buffered events, then this one. */
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
