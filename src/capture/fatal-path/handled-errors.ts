/**
 * What became of the process after each uncaught exception that a handler of the program received, or a listener of
 * uncaughtExceptionMonitor saw. If one of these throws, the process ends with exit code 7, without another event and before any
 * code of ours can run. So a file beside the bundle says that it was called, until it is seen that it has returned. The file
 * stays if nobody sees that: because it threw, ended the process in a way that has no event, was killed, or still runs.
 */
import { withdrawHandling, writeEnds, writeHandling } from '../../bundle/write/write-sequel.ts';

const mostPaths = 20;

export class HandledErrors {
  readonly #paths: string[] = [];
  #handling: string | undefined;

  /** The program survives the error that this bundle records, if its handler wants to. */
  survived(path: string): void {
    if (this.#paths.length < mostPaths) this.#paths.push(path);
  }

  /** A handler is called next. A second exception may come before a microtask does: then the handler of the first has returned. */
  handling(path: string): void {
    this.ended();
    this.#handling = path;
    writeHandling(path);
    void this.#untilReturned(path);
  }

  /** The handler has returned, or has called process.exit. */
  ended(): void {
    if (this.#handling !== undefined) withdrawHandling(this.#handling);
    this.#handling = undefined;
  }

  /** Only now it is known how long the program survived them. */
  exited(exitCode: number): void {
    writeEnds(this.#paths, exitCode);
  }

  /** Microtasks run after the handler, and not at all if it throws. `await` uses nothing that the program can replace. */
  async #untilReturned(path: string): Promise<void> {
    await undefined;
    if (this.#handling === path) this.ended();
  }
}
