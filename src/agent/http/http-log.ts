/**
 * The requests that are no model calls: method, host, status and timing are recorded, nothing of their content. A
 * program may make hundreds a second, so a request is written when it has taken a while or when it is over, several at
 * a time; the death writes what is open. More than so many a second are counted only.
 */
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import type { AgentScope } from '../record/scope.ts';

/** A request as it is known so far. Times in milliseconds since the epoch. */
export interface HttpRequest {
  id: string;
  method: string;
  /** With the port, where there is one. */
  host: string;
  scope: AgentScope;
  startedAt: number;
}

const perSecond = { metadata: 50, content: 500 };
/** So long a request may be, or be over, before it is written. */
const delayMs = 250;
const { now } = Date;
/** A host's tests may put a clock of their own in its place. */
const { setTimeout: startTimer } = globalThis;
const logs = new WeakMap<AgentRecorder, HttpLog>();

/** The recorder's own. */
export function httpLogOf(recorder: AgentRecorder): HttpLog {
  let log = logs.get(recorder);
  if (!log) {
    log = new HttpLog(recorder);
    logs.set(recorder, log);
  }
  return log;
}

export class HttpLog implements InFlight {
  readonly #recorder: AgentRecorder;
  /** Open and not yet written. */
  readonly #young = new Set<HttpRequest>();
  /** Events of requests that are over. */
  #ends: (() => void)[] = [];
  #second = 0;
  #left = 0;
  #skipped = 0;
  #isWaiting = false;

  constructor(recorder: AgentRecorder) {
    this.#recorder = recorder;
  }

  /** False when too many requests were recorded in this second. */
  mayRecord(): boolean {
    const second = Math.floor(now() / 1000);
    if (this.#second !== second) {
      if (this.#skipped) this.#recorder.sink.record('http.skipped', { count: this.#skipped });
      this.#second = second;
      this.#left = perSecond[this.#recorder.httpLevel];
      this.#skipped = 0;
    }
    if (this.#left-- > 0) return true;
    this.#skipped++;
    return false;
  }

  opened(request: HttpRequest): void {
    this.#young.add(request);
    this.#wait();
  }

  /** `write` records the end; it is told what the start would have said, when that was not written. */
  closed(request: HttpRequest, write: (start: Omit<HttpRequest, 'id' | 'scope'> | undefined) => void): void {
    const { method, host, startedAt } = request;
    const start = this.#young.delete(request) ? { method, host, startedAt } : undefined;
    this.#ends.push(() => write(start));
    this.#wait();
  }

  flush(): void {
    this.#writeOlderThan(0);
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#recorder.inFlight.add(this);
    startTimer(() => {
      this.#isWaiting = false;
      this.#writeOlderThan(delayMs);
      if (this.#young.size) this.#wait();
      else this.#recorder.inFlight.delete(this);
    }, delayMs).unref();
  }

  #writeOlderThan(ageMs: number): void {
    const ends = this.#ends;
    this.#ends = [];
    const { sink } = this.#recorder;
    for (const write of ends) write();
    const before = now() - ageMs;
    for (const request of this.#young) {
      // The oldest come first.
      if (request.startedAt > before) break;
      this.#young.delete(request);
      const { id, method, host, scope } = request;
      sink.record('http.start', { http: id, method, ...scope }, { host }, 'ahead');
    }
    sink.flush();
  }
}
