/**
 * Whether the rejection that ends the process is that of a module: its evaluation failed, or a rejection passed through a
 * top-level await. For any other promise Node emits `unhandledRejection` just before uncaughtExceptionMonitor, for a module
 * it does not (observed on Node 20, 22, 24 and 26, in workers too). With --unhandled-rejections=warn or none only that of a
 * module reaches the monitor; with strict nothing is emitted before, and the two can't be distinguished. The stack does not
 * help: an anonymous callback has the same frame as the module itself.
 */
export class RaisedRejections {
  #isRaised = false;
  readonly #mode = /--unhandled-rejections[= ](strict|warn|none)\b/.exec(
    `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`,
  )?.[1];

  /** If the host listens, the rejection ends nothing, and the next one is a different one. */
  raised(hasHost: boolean): void {
    this.#isRaised = !hasHost;
  }

  /** For a rejection that is about to end the process. */
  isOfModule(): boolean {
    const isRaised = this.#isRaised;
    this.#isRaised = false;
    if (this.#mode !== undefined) return this.#mode !== 'strict';
    return !isRaised;
  }
}

export const raisedRejections = new RaisedRejections();
