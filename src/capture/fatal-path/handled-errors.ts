/**
 * What became of the process after each signal or uncaught exception that a handler of the program received, or a listener of
 * uncaughtExceptionMonitor saw. If one of these throws, the process ends with exit code 7, without another event. So a file beside
 * the bundle says that it was called, until it is seen that it has returned, or what it threw. The file stays if nobody sees
 * that: because it threw what is not seen (fatal-print.ts), ended the process in a way that has no event, was killed, or still runs.
 */
import { basename } from 'node:path';
import {
  handlerThrew,
  withdrawHandling,
  writeEnds,
  writeHandling,
  writeThrew,
} from '../../bundle/write/write-sequel.ts';
import { beforeFatalPrint } from '../host/fatal-print.ts';
import type { CaptureRequest } from './request.ts';

const mostPaths = 20;
const nothing = (): void => {};

export class HandledErrors {
  readonly #paths: string[] = [];
  #handling: string | undefined;
  #unwatch = nothing;
  readonly #capture: (request: CaptureRequest) => string | undefined;

  /** `capture` never throws. */
  constructor(capture: (request: CaptureRequest) => string | undefined) {
    this.#capture = capture;
  }

  /** The bundle of an error or a signal, which the program survives if its handler wants to. */
  captured(path: string, request: CaptureRequest, isExiting: boolean): void {
    const isSurvived = request.handledByHost && (request.thrown !== undefined || request.kind === 'signal');
    if (isSurvived && this.#paths.length < mostPaths) this.#paths.push(path);
    // While `exit` is emitted, nothing of ours runs that would see the handler return.
    if (request.isHandledNext && !isExiting) this.#handles(path, request);
  }

  /** A handler is called next. A second exception may come before a microtask does: then the handler of the first has returned. */
  #handles(path: string, request: CaptureRequest): void {
    this.ended();
    this.#handling = path;
    writeHandling(path);
    // A domain takes its callback away before it calls what may throw.
    const isCallback = process.hasUncaughtExceptionCaptureCallback();
    this.#unwatch = beforeFatalPrint(
      (error) => this.#threw(path, request, error, isCallback),
      request.thrown?.value,
    );
    void this.#untilReturned(path);
  }

  /** The handler has returned, or has called process.exit. */
  ended(): void {
    this.#unwatch();
    // It refers to the error, and all that the program has put on it.
    this.#unwatch = nothing;
    if (this.#handling !== undefined) withdrawHandling(this.#handling);
    this.#handling = undefined;
  }

  /** Node ends the process now. */
  #threw(path: string, request: CaptureRequest, error: unknown, isCallback: boolean): void {
    const isSame = error === request.thrown?.value;
    // A listener of uncaughtExceptionMonitor may have returned, and Node prints the error that it was given.
    if (isSame && !request.handledByHost) return;
    this.ended();
    if (isSame) writeThrew(path, { rethrown: true });
    else writeThrew(path, { next: this.#captureThrown(path, request, error, isCallback) });
  }

  #captureThrown(
    path: string,
    { handledByHost }: CaptureRequest,
    error: unknown,
    isCallback: boolean,
  ): string | undefined {
    const next = this.#capture({
      kind: 'uncaught-exception',
      handledByHost: false,
      thrown: { value: error },
      details: {
        origin: 'uncaughtException',
        exitCode: handlerThrew,
        thrownBy: {
          handler: !handledByHost
            ? 'uncaughtExceptionMonitor'
            : isCallback
              ? 'captureCallback'
              : 'uncaughtException',
          bundle: basename(path),
        },
      },
    });
    return next && basename(next);
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
