/**
 * A sink that opens when there is time for it: making the policy and the journal, and cleaning the first conversation with
 * code that never ran, takes some 40 ms. What the taps record of a request has left the process already, and between the
 * AI SDK's step and its request only its own code runs: such events wait for two turns of the loop, in which the request
 * goes out and the program waits for its model. Everything else opens the sink at once, for a program may run into its
 * death in the same tick.
 */
import type { AgentEventData, AgentEventKind } from '../../journal/layout/agent.ts';
import type { AgentSink, EventSink, Writing } from './sink.ts';

/** A connection on the same machine is made within the first of them, and the request is sent in it. */
const turns = 2;
const mostWaiting = 1000;
const { now } = Date;
/** A host's tests may put their own in its place. */
const { setImmediate } = globalThis;

export class LateSink implements AgentSink {
  readonly #open: () => EventSink | undefined;
  /** Each records one event; undefined once the sink has been opened. */
  #waiting: ((sink: EventSink) => void)[] | undefined = [];
  #sink: EventSink | undefined;
  /** There was an event that no plain request over the network makes. */
  hasAgentEvents = false;

  /** `open` says itself why it can't, and is called once. */
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

  /** The sink, with all that waited for it in it; undefined when it could not be had. */
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
    // Without a hold on the loop it would run only when something else woke the loop.
    else setImmediate(() => this.#openIn(turnsLeft - 1));
  }
}
