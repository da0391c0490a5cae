/**
 * Whether Node has raised `unhandledRejection` for the rejection that ends the process. For a promise it always does,
 * just before the monitor hears of it; for a module whose evaluation failed (a rejection that passed through a
 * top-level await) it does not, on Node 20, 22, 24 and 26. With --unhandled-rejections=strict it raises it afterwards.
 */
export class RaisedRejections {
  #isRaised = false;
  readonly #isTelling = !/--unhandled-rejections/.test(
    `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`,
  );

  /** Where the host listens, the rejection ends nothing, and the next one is another. */
  raised(hasHost: boolean): void {
    this.#isRaised = !hasHost;
  }

  /** For a rejection that is about to end the process. */
  isOfModule(): boolean {
    const isRaised = this.#isRaised;
    this.#isRaised = false;
    return this.#isTelling && !isRaised;
  }
}

export const raisedRejections = new RaisedRejections();
