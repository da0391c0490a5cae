/**
 * Whether the rejection that ends the process is that of a module: its evaluation failed, or a rejection passed through a
 * top-level await. For any other promise Node raises `unhandledRejection` just before the monitor hears of it, for a module
 * it does not (seen on Node 20, 22, 24 and 26, in workers too). With --unhandled-rejections=warn or none only a module's
 * comes to the monitor; with strict nothing is raised before, and the two are not told apart. Nor can the stack tell: a
 * callback without a name looks in it like the module itself.
 */
export class RaisedRejections {
  #isRaised = false;
  readonly #mode = /--unhandled-rejections[= ](strict|warn|none)\b/.exec(
    `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`,
  )?.[1];

  /** Where the host listens, the rejection ends nothing, and the next one is another. */
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
