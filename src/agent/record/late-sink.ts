/**
 * A sink that is opened lazily. Creating the policy and the journal, and redacting the first conversation with code that has
 * never run, takes some 40 ms. When the taps record a request, it has already left the process, and between a step of the AI
 * SDK and its request only code of the SDK runs. Such events wait for two turns of the event loop, in which the request is
 * sent and the program waits for its model. All other events open the sink immediately, because the program may die in the
 * same tick.
 */
import type { AgentEventData, AgentEventKind } from '../../journal/layout/agent.ts';
import { startOwnTimer } from '../taps/own-timer.ts';
import type { AgentSink, EventSink, Writing } from './sink.ts';

/** In the first turn a connection to the same machine is made and the request is sent. */
const turns = 2;
const mostWaiting = 1000;
const { now } = Date;

export class LateSink implements AgentSink {
  readonly #open: () => EventSink | undefined;
  /** Each function records one event. Undefined once the sink has been opened. */
  #waiting: ((sink: EventSink) => void)[] | undefined = [];
  #sink: EventSink | undefined;
  /** Whether there was any event other than those of plain HTTP requests. */
  hasAgentEvents = false;

  /** `open` is called once, and reports its own failures. */
  constructor(open: () => EventSink | undefined) {
    this.#open = open;
  }

  record<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
    writing: Writing = 'now',
    at = now(),
  ): void {
    if (!kind.startsWith('http.')) this.hasAgentEvents = true;
    if (!this.#waiting || writing === 'now') {
      this.opened()?.record(kind, facts, content, writing, at);
      return;
    }
    if (this.#waiting.push((sink) => sink.record(kind, facts, content, writing, at)) === 1)
      this.#openIn(turns);
    if (this.#waiting.length > mostWaiting) this.opened();
  }

  flush(): void {
    if (this.#waiting?.length !== 0) this.opened()?.flush();
  }

  cleanText(text: string): string {
    return this.opened()?.cleanText(text) ?? '';
  }

  cleanWhole(text: string): string {
    return this.opened()?.cleanWhole(text) ?? '';
  }

  /** The sink, including everything that waited for it; undefined if it could not be opened. */
  opened(): EventSink | undefined {
    const waiting = this.#waiting;
    if (!waiting) return this.#sink;
    this.#waiting = undefined;
    this.#sink = this.#open();
    if (this.#sink) for (const record of waiting) record(this.#sink);
    return this.#sink;
  }

  #openIn(turnsLeft: number): void {
    if (turnsLeft === 0) this.opened();
    else startOwnTimer(() => this.#openIn(turnsLeft - 1), 0);
  }
}
