/**
 * The main thread as the watchdog's debugger session sees it: interrupted, read, asked, let go. Connected only while it
 * stalls. A session that were still connected at the end would hold the process and print a line.
 */
import type { Debugger, Session } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout.ts';
import { readFrame, stackTextOf } from '../frame-reader.ts';
import { cells } from './protocol.ts';

const mostFrames = 40;
const answerMs = 5_000;

export type Interrupted =
  /** It runs JavaScript, and stands still now. */
  | { state: 'paused'; frames: Debugger.CallFrame[] }
  /** It does not answer: it sits in native code, or in a system call. */
  | { state: 'native' }
  /** Somebody debugs it, and has stopped it himself. */
  | { state: 'debugged' };

export class MainThread {
  readonly #session: Session;
  readonly #shared: Int32Array;
  readonly #urls = new Map<string, string>();
  #frames: Debugger.CallFrame[] | undefined;
  #onPaused = (): void => {};
  #isAsking = false;

  constructor(shared: Int32Array) {
    this.#shared = shared;
    const { Session } = process.getBuiltinModule('node:inspector');
    this.#session = new Session();
    Atomics.store(shared, cells.attached, 1);
    this.#session.connectToMainThread();
    this.#session.on('Debugger.scriptParsed', ({ params }) => this.#urls.set(params.scriptId, params.url));
    this.#session.on('Debugger.resumed', () => {
      this.#frames = undefined;
    });
    this.#session.on('Debugger.paused', ({ params }) => {
      // A stop that was asked for of a thread that had come to its end: it would fall into what we evaluate.
      if (this.#isAsking) return void this.#ask('Debugger.resume').catch(() => {});
      this.#frames = params.callFrames;
      this.#onPaused();
    });
  }

  /** Stops it where it is; `native` when that has not come about in `limitMs`. */
  async interrupt(limitMs: number): Promise<Interrupted> {
    const enabled = await this.#within(
      limitMs,
      this.#ask('Debugger.enable').then(() => true),
    );
    if (!enabled) return { state: 'native' };
    if (this.#frames) return { state: 'debugged' };
    const frames = await this.pause(limitMs);
    return frames ? { state: 'paused', frames } : { state: 'native' };
  }

  pause(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.pause', limitMs);
  }

  /** While it is stopped: at the next function that is called, or a step further. */
  stepInto(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.stepInto', limitMs);
  }

  /** While it is stopped: when the innermost function has returned; undefined when it has not in `limitMs`. */
  stepOut(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.stepOut', limitMs);
  }

  async #stopBy(method: string, limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    this.#frames = undefined;
    const paused = new Promise<void>((resolve) => {
      this.#onPaused = resolve;
    });
    void this.#ask(method).catch(() => {});
    await this.#within(limitMs, paused);
    return this.#frames;
  }

  async resume(): Promise<void> {
    await this.#within(
      answerMs,
      this.#ask('Debugger.resume').catch(() => {}),
    );
  }

  isInProgram(frames: Debugger.CallFrame[]): boolean {
    return this.#named(frames).some(({ url }) => url !== '' && !url.startsWith('node:'));
  }

  /** Innermost first, with variables. */
  readFrames(frames: Debugger.CallFrame[]): Promise<LocalsPart['frames']> {
    return Promise.all(
      this.#named(frames).map((frame, depth) =>
        readFrame((method, params) => this.#ask(method, params), frame, depth),
      ),
    );
  }

  stackText(frames: Debugger.CallFrame[], head: string): string {
    const places = this.#named(frames).map(({ functionName, location, url }) => ({
      functionName,
      scriptId: location.scriptId,
      url,
      line: location.lineNumber + 1,
      column: (location.columnNumber ?? 0) + 1,
      scopes: [],
    }));
    return stackTextOf(places, head);
  }

  /** JSON of what the expression is there; undefined when it throws or gives no answer. Works while it is paused. */
  async evaluate(expression: string, limitMs: number): Promise<unknown> {
    this.#isAsking = true;
    const answer = await this.#within(
      limitMs,
      this.#ask('Runtime.evaluate', { expression, returnByValue: true, silent: true }).catch(() => undefined),
    );
    this.#isAsking = false;
    return (answer?.['result'] as { value?: unknown } | undefined)?.value;
  }

  /** Lets it go on, if it was stopped. */
  detach(): void {
    this.#session.disconnect();
    Atomics.store(this.#shared, cells.attached, 0);
  }

  /** A paused frame often has no URL of its own. */
  #named(frames: Debugger.CallFrame[]): Debugger.CallFrame[] {
    return frames
      .slice(0, mostFrames)
      .map((frame) => ({ ...frame, url: frame.url || (this.#urls.get(frame.location.scriptId) ?? '') }));
  }

  #ask(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, params, (error: Error | null, result?: object) => {
        if (error) reject(error);
        else resolve((result ?? {}) as Record<string, unknown>);
      });
    });
  }

  async #within<Value>(limitMs: number, answer: Promise<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, limitMs, undefined);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
