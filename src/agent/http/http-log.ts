/**
 * Requests that are not model calls: records method, host, status and timing, but no content. A program may make hundreds per
 * second, so a request is written only after it has taken a while or is over, and several are written together, with the
 * times at which they began or ended, not those of the writing. At a death, open requests are written. Requests above a limit
 * per second are only counted.
 */
import type { ByOrigin } from '../../journal/layout/agent.ts';
import { PassingSet } from '../record/passing-set.ts';
import { ofClock, PerSecond } from '../record/per-second.ts';
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import type { AgentScope } from '../record/scope.ts';
import { startOwnTimer } from '../taps/own-timer.ts';

/** What is known of a request so far. Times are in milliseconds since the epoch. */
export interface HttpRequest {
  id: string;
  method: string;
  /** With the port, if any. */
  host: string;
  scope: AgentScope;
  byOrigin: ByOrigin;
  startedAt: number;
}

const perSecond = { metadata: 50, content: 500 };
/** A request that is open or over for this long is written. */
const delayMs = 250;
const { now } = Date;
const logs = new WeakMap<AgentRecorder, HttpLog>();

/** The log of this recorder. */
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
  /** Open requests that have not been written yet. */
  readonly #young = new PassingSet<HttpRequest>();
  /** Events of requests that are over. */
  #ends: (() => void)[] = [];
  #skipped = 0;
  readonly #rate: PerSecond;
  #isWaiting = false;

  constructor(recorder: AgentRecorder) {
    this.#recorder = recorder;
    // For a replay, each that is left out counts.
    this.#rate = new PerSecond(
      perSecond[recorder.httpLevel],
      recorder.httpLevel === 'content' ? ofClock : undefined,
    );
  }

  /** False when too many requests were recorded in this second. */
  mayRecord(): boolean {
    if (this.#rate.begins()) {
      if (this.#skipped) this.#recorder.sink.record('http.skipped', { count: this.#skipped });
      this.#skipped = 0;
    }
    if (this.#rate.take()) return true;
    this.#skipped++;
    return false;
  }

  opened(request: HttpRequest): void {
    this.#young.add(request);
    this.#wait();
  }

  /** `write` records the end. It receives the data of the start event if that one was not written. */
  closed(request: HttpRequest, write: (start: HttpRequest | undefined) => void): void {
    const start = this.#young.delete(request) ? request : undefined;
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
    startOwnTimer(() => {
      this.#isWaiting = false;
      this.#writeOlderThan(delayMs);
      if (this.#young.size) this.#wait();
      else this.#recorder.inFlight.delete(this);
    }, delayMs);
  }

  #writeOlderThan(ageMs: number): void {
    const ends = this.#ends;
    this.#ends = [];
    const { sink } = this.#recorder;
    for (const write of ends) write();
    const before = now() - ageMs;
    for (const request of this.#young) {
      // The set is ordered: oldest first.
      if (request.startedAt > before) break;
      this.#young.delete(request);
      const { id, method, host, scope, byOrigin, startedAt } = request;
      sink.record('http.start', { http: id, method, ...scope, ...byOrigin }, { host }, 'ahead', startedAt);
    }
    sink.flush();
  }
}
