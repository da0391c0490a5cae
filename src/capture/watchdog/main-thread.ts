/**
 * The main thread as the watchdog's session sees it: asked in passing, interrupted, read, let go. Connected only while it
 * stalls, and never for longer than a deadline: whatever goes wrong, the session is cut then, and a session that is cut
 * gives up its stop. One that were still connected at the end would hold the process and print a line, so that the
 * beginning of the end (`cells.closing`) cuts it too; and so does memory that grows while the debugger is enabled.
 */
import type { Debugger, Session } from 'node:inspector';
import type { LocalsPart } from '../../bundle/layout/bundle.ts';
import { platform } from '../../platform/index.ts';
import { readFrame, stackTextOf } from '../stacks/frame-reader.ts';
import { tellUnavailableValues } from '../stacks/unavailable-values.ts';
import { cells, hookExpression, type StallProbe } from './protocol.ts';

const mostFrames = 40;
/** Longer nobody looks, however many looks those were. */
const mostLookingMs = 10_000;
const pollMs = 20;

export type Interrupted =
  /** It runs JavaScript, and stands still now. */
  | { state: 'paused'; frames: Debugger.CallFrame[] }
  /** It does not answer: it sits in native code, or in a system call. */
  | { state: 'native' }
  /** It has used up its room meanwhile, and was let go. */
  | { state: 'growing' }
  /** Somebody debugs it, and has stopped it himself; or the process ends. */
  | { state: 'debugged' };

export class MainThread {
  readonly #session: Session;
  readonly #shared: Int32Array;
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
  /** Resident memory from which on the debugger is taken away. */
  #mostRss = Number.POSITIVE_INFINITY;
  #hasGrown = false;

  constructor(shared: Int32Array) {
    this.#shared = shared;
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
      // It would fall into what we evaluate, which waits for it.
      if (this.#isAsking) return void this.#ask('Debugger.resume').catch(() => {});
      // V8 has just raised the limit, and takes it back when we go.
      if (params.reason === 'OOM') return this.#letGrow();
      this.#frames = params.callFrames;
      this.#onPaused();
    });
  }

  /** At the next back edge of a loop; undefined when it does not come there in `limitMs`. */
  async probe(limitMs: number): Promise<StallProbe | undefined> {
    const text = await this.evaluateInPassing(`JSON.stringify(${hookExpression}.probe())`, limitMs);
    return typeof text === 'string' ? (JSON.parse(text) as StallProbe) : undefined;
  }

  /** Stops it where it is; `native` when that has not come about in `limitMs`. `roomBytes`: see heap-room.ts. */
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

  /** While it is stopped: at the next function that is called, or a step further. */
  stepInto(limitMs: number): Promise<Debugger.CallFrame[] | undefined> {
    return this.#stopBy('Debugger.stepInto', limitMs);
  }

  /**
   * While it is stopped there: when the innermost function has returned; undefined when it has not in `limitMs`, or returns
   * to nobody in the program: an async function that Node 20 (V8 11) was asked to step out of at an `await` is not
   * interrupted again by this session. Nor is a loop without calls in Node 22 (V8 12): a breakpoint in the caller does
   * it there.
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

  /**
   * JSON of what the expression is; undefined when it throws, gives no answer, or the thread is not stopped: a stop that
   * was asked for in vain would come in the middle of it.
   */
  async evaluate(expression: string, limitMs: number): Promise<unknown> {
    return this.isPaused ? this.#evaluate(expression, limitMs) : undefined;
  }

  /** As `evaluate`, of a thread that runs, at the next back edge of a loop; the debugger must not be enabled. */
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

  /** Lets it go on, if it was stopped. */
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

  /** A paused frame often has no URL of its own. */
  #named(frames: Debugger.CallFrame[]): Debugger.CallFrame[] {
    return frames
      .slice(0, mostFrames)
      .map((frame) => ({ ...frame, url: frame.url || (this.#urls.get(frame.location.scriptId) ?? '') }));
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

  /** Undefined when it fails, is late, or the session is cut. */
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

function isOfProgram({ url }: Debugger.CallFrame): boolean {
  return url !== '' && !url.startsWith('node:');
}
