/**
 * The main thread as the watchdog's inspector session sees it: evaluated without stopping, interrupted, read, resumed. The
 * session is connected only during a stall, and never for longer than a deadline, after which it is cut whatever happens;
 * cutting a session resumes a thread that it stopped. A session that was still connected at the end of the process would keep
 * it alive and print a line, so it is also cut when the process begins to end (`cells.closing`), and when memory grows while
 * the debugger is enabled.
 */
import type { Debugger, Session } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout/bundle.ts';
import { platform } from '../../platform/index.ts';
import { readFrames, stackTextOf } from '../stacks/frame-reader.ts';
import { isOwnScript } from '../stacks/own-scripts.ts';
import { tellUnavailableValues } from '../stacks/unavailable-values.ts';
import { cells, hookExpression, type StallProbe, type WatchdogData } from './protocol.ts';

const mostFrames = 40;
const mostOwnFrames = 10;
/** The limit for all looks together. */
const mostLookingMs = 10_000;
const pollMs = 20;

export type Interrupted =
  /** It runs JavaScript, and is stopped now. */
  | { state: 'paused'; frames: Debugger.CallFrame[] }
  /** It does not answer: it is in native code, or in a system call. */
  | { state: 'native' }
  /** It grew beyond its room meanwhile, and was resumed. */
  | { state: 'growing' }
  /** It is being debugged, and the debugger has stopped it; or the process ends. */
  | { state: 'debugged' };

export class MainThread {
  readonly #session: Session;
  readonly #shared: Int32Array;
  readonly #ownFile: string;
  readonly #urls = new Map<string, string>();
  /** Rejects when the session is cut. */
  readonly #cut: Promise<never>;
  #cutNow = (): void => {};
  #frames: Debugger.CallFrame[] | undefined;
  #onPaused = (): void => {};
  #isAsking = false;
  #isConnected = true;
  #deadline: NodeJS.Timeout;
  readonly #poll: NodeJS.Timeout;
  /** Resident memory above which the debugger is disconnected. */
  #mostRss = Number.POSITIVE_INFINITY;
  #hasGrown = false;

  constructor({ shared, ownFile }: Pick<WatchdogData, 'shared' | 'ownFile'>) {
    this.#shared = shared;
    this.#ownFile = ownFile;
    const { Session } = process.getBuiltinModule('node:inspector');
    this.#session = new Session();
    this.#cut = new Promise((_, reject) => {
      this.#cutNow = () => reject(new Error('the session is cut'));
    });
    this.#cut.catch(() => {});
    this.#deadline = setTimeout(() => this.detach(), mostLookingMs);
    this.#poll = setInterval(() => this.#cutWhereDue(), pollMs);
    // In this order: the main thread sets `closing` and then waits for `attached` to be 0.
    Atomics.store(shared, cells.attached, 1);
    this.#cutWhereDue();
    if (!this.#isConnected) return;
    tellUnavailableValues(true);
    this.#session.connectToMainThread();
    this.#session.on('Debugger.scriptParsed', ({ params }) => this.#urls.set(params.scriptId, params.url));
    this.#session.on('Debugger.resumed', () => {
      this.#frames = undefined;
    });
    this.#session.on('Debugger.paused', ({ params }) => {
      // A stop here would be within our own evaluation, which would wait for it.
      if (this.#isAsking) return void this.#ask('Debugger.resume').catch(() => {});
      // V8 has just raised the limit, and lowers it again when the session is cut.
      if (params.reason === 'OOM') return this.#letGrow();
      this.#frames = params.callFrames;
      this.#onPaused();
    });
  }

  /** Answered at the next back edge of a loop; undefined if there is none within `limitMs`. */
  async probe(limitMs: number): Promise<StallProbe | undefined> {
    const text = await this.evaluateInPassing(`JSON.stringify(${hookExpression}.probe())`, limitMs);
    return typeof text === 'string' ? (JSON.parse(text) as StallProbe) : undefined;
  }

  /** Stops it where it is; `native` if it has not stopped within `limitMs`. `roomBytes`: see heap-room.ts. */
  async interrupt(limitMs: number, roomBytes: number): Promise<Interrupted> {
    this.#mostRss = platform.residentBytes() + roomBytes;
    const enabled = await this.#within(
      limitMs,
      this.#ask('Debugger.enable').then(() => true),
    );
    if (this.#frames || (!this.#isConnected && !this.#hasGrown)) return { state: 'debugged' };
    const frames = enabled && (await this.pause(limitMs));
    if (this.#hasGrown) return { state: 'growing' };
    return frames ? { state: 'paused', frames } : { state: 'native' };
  }

  get isPaused(): boolean {
    return this.#isConnected && this.#frames !== undefined;
  }

  pause(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.pause', limitMs);
  }

  /** Must be stopped. Stops at the next function that is called, or a step further. */
  stepInto(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.stepInto', limitMs);
  }

  /**
   * Must be stopped at `frames`. Stops when the innermost function has returned; undefined if it has not within `limitMs`, or
   * has no caller in the program. When asked to step out of an async function at an `await`, Node 20 (V8 11) is not
   * interrupted again by this session. Nor is a loop without calls in Node 22 (V8 12), where a breakpoint in the caller is
   * used instead.
   */
  async stepOut(frames: Debugger.CallFrame[], limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    const [, caller] = this.#named(frames);
    if (!caller || !isOfProgram(caller)) return undefined;
    if (!process.versions.v8.startsWith('12.')) return this.#stopBy('Debugger.stepOut', limitMs);
    return this.#stopBy('Debugger.continueToLocation', limitMs, {
      location: caller.location,
      targetCallFrames: 'any',
    });
  }

  async #stopBy(
    method: string,
    limitMs: number,
    params: Record<string, unknown> = {},
  ): Promise<Debugger.CallFrame[] | undefined> {
    this.#frames = undefined;
    const paused = new Promise<void>((resolve) => {
      this.#onPaused = resolve;
    });
    void this.#ask(method, params).catch(() => {});
    await this.#within(limitMs, paused);
    return this.#frames;
  }

  async resume(limitMs: number): Promise<void> {
    await this.#within(limitMs, this.#ask('Debugger.resume'));
  }

  isInProgram(frames: Debugger.CallFrame[]): boolean {
    return this.#named(frames).some(isOfProgram);
  }

  /** It gives the watchdog an answer, or is about to: its event loop turns. */
  isAnswering(frames: Debugger.CallFrame[]): boolean {
    return !this.isInProgram(frames) && this.#named(frames).some(({ url }) => url.endsWith(':watchdog-half'));
  }

  /** Stopped while Node loads one of its own modules, which has only some of its functions until then. */
  get isLoadingModule(): boolean {
    return this.isPaused && isLoadingModule(this.#named(this.#frames ?? []));
  }

  /** Innermost first, with variables. */
  readFrames(frames: Debugger.CallFrame[]): Promise<LocalsPart['frames']> {
    return readFrames((method, params) => this.#ask(method, params), this.#named(frames), this.#ownFile);
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

  /**
   * The JSON value of the expression; undefined if it throws, gives no answer, or the thread is not stopped: a stop that was
   * requested in vain would occur in the middle of the evaluation.
   */
  async evaluate(expression: string, limitMs: number): Promise<unknown> {
    return this.isPaused ? this.#evaluate(expression, limitMs) : undefined;
  }

  /** Like `evaluate`, in a running thread, at the next back edge of a loop. The debugger must not be enabled. */
  evaluateInPassing(expression: string, limitMs: number): Promise<unknown> {
    return this.#evaluate(expression, limitMs);
  }

  async #evaluate(expression: string, limitMs: number): Promise<unknown> {
    if (!this.#isConnected) return undefined;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.detach(), limitMs + mostLookingMs);
    this.#isAsking = true;
    const answer = await this.#within(
      limitMs,
      this.#ask('Runtime.evaluate', { expression, returnByValue: true, silent: true }),
    );
    this.#isAsking = false;
    return (answer?.['result'] as { value?: unknown } | undefined)?.value;
  }

  /** Resumes it if it was stopped. */
  detach(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    clearTimeout(this.#deadline);
    clearInterval(this.#poll);
    this.#session.disconnect();
    tellUnavailableValues(false);
    Atomics.store(this.#shared, cells.attached, 0);
    this.#cutNow();
  }

  #cutWhereDue(): void {
    if (Atomics.load(this.#shared, cells.closing) !== 0) this.detach();
    else if (!this.#isAsking && platform.residentBytes() > this.#mostRss) this.#letGrow();
  }

  #letGrow(): void {
    this.#hasGrown = true;
    this.detach();
  }

  /** A paused frame often has no URL of its own. Our frames must not take the place of the program's. */
  #named(frames: Debugger.CallFrame[]): Debugger.CallFrame[] {
    let ours = 0;
    return frames
      .map((frame) => ({ ...frame, url: frame.url || (this.#urls.get(frame.location.scriptId) ?? '') }))
      .filter(({ url }) => !isOwnScript(url, this.#ownFile) || ours++ < mostOwnFrames)
      .slice(0, mostFrames);
  }

  #ask(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    if (!this.#isConnected) return this.#cut;
    const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
      this.#session.post(method, params, (error: Error | null, result?: object) => {
        if (error) reject(error);
        else resolve((result ?? {}) as Record<string, unknown>);
      });
    });
    return Promise.race([answer, this.#cut]);
  }

  /** Undefined if it fails, is late, or the session is cut. */
  async #within<Value>(limitMs: number, answer: Promise<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, limitMs, undefined);
    });
    try {
      return await Promise.race([answer, late, this.#cut]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** By the function of Node's that runs the text of such a module; its name is the same on Node 20 to 26. */
export function isLoadingModule(
  frames: readonly Pick<Debugger.CallFrame, 'functionName' | 'url'>[],
): boolean {
  return frames.some(
    ({ functionName, url }) =>
      url === 'node:internal/bootstrap/realm' && functionName.startsWith('compileFor'),
  );
}

function isOfProgram({ url }: Debugger.CallFrame): boolean {
  return url !== '' && !url.startsWith('node:');
}
