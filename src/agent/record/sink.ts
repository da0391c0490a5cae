/**
 * The destination of all agent events. They are redacted by the caller's policy, cut to the limits, numbered, and written to
 * the journal, if there is one, and to the bounded ring. Never throws into its caller, which may be the host's own code.
 * Knows nothing of HTTP, providers or frameworks.
 */
import {
  type AgentEventData,
  type AgentEventKind,
  type AgentEventsPart,
  type Attributes,
  agentEventsSchema,
  type ByOrigin,
  journalKindOf,
} from '../../journal/layout/agent.ts';
import { toPlain } from '../api/plain.ts';
import { hashOf } from '../node-modules.ts';
import { EventRing } from './event-ring.ts';

/** What may leave the process. Provided by the caller, from src/redaction. */
export interface RecordingPolicy {
  text(text: string): string;
  value(value: unknown): unknown;
}

/** The part of the journal's writer that is used here. */
export interface EventJournal {
  append(kind: number, payload: string): number;
  /** May stay in memory until the next `append` or `flush`. */
  appendBuffered(kind: number, payload: string): number;
  flush(): void;
}

export interface SinkOptions {
  policy: RecordingPolicy;
  journal?: EventJournal;
  /** Limit of the ring. */
  ringBytes?: number;
  /** Longer texts are shortened. In UTF-16 units. */
  textLimitChars?: number;
  /** Receives every recorded event. `content` is the host's data as it was recorded. Must not throw. */
  onEvent?: (
    kind: AgentEventKind,
    facts: Record<string, unknown>,
    content: Record<string, unknown> | undefined,
  ) => void;
}

/**
 * `ahead`: an event that refers to this one follows in the same tick, and both are written with one system call. `soon`: may
 * wait until the loop has turned, because no code of the host runs before that.
 */
export type Writing = 'now' | 'ahead' | 'soon';

/**
 * `facts` are ids, numbers and words of this package; everything from the host or a server is `content`. `at`, in
 * milliseconds since the epoch, is for events that are reported after they occurred.
 */
export interface AgentSink {
  record<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
    writing?: Writing,
    at?: number,
  ): void;
  /** Passes the events recorded with `ahead` to the kernel. */
  flush(): void;
  /** A text redacted and shortened as in an event, for callers that need it before it is recorded. */
  cleanText(text: string): string;
  /** The same without shortening, for callers with limits of their own. */
  cleanWhole(text: string): string;
}

const defaultRingBytes = 4 * 1024 * 1024;
const defaultTextLimit = 64 * 1024;
/**
 * This many additional characters on each side of a cut are redacted with the text, so that a cut does not split a secret.
 */
const slackChars = 8192;
const { now } = Date;

export class EventSink implements AgentSink {
  /** The number of events that could not be recorded, and the first reason. */
  failures = 0;
  failure: string | undefined;
  readonly #policy: RecordingPolicy;
  readonly #ring: EventRing;
  readonly #textLimit: number;
  readonly #onEvent: SinkOptions['onEvent'];
  #journal: EventJournal | undefined;
  #seq = 0;
  /** The name that was redacted last. */
  #test: { raw: string; clean: string } | undefined;

  constructor(options: SinkOptions) {
    this.#policy = options.policy;
    this.#journal = options.journal;
    this.#ring = new EventRing(options.ringBytes ?? defaultRingBytes);
    this.#textLimit = options.textLimitChars ?? defaultTextLimit;
    this.#onEvent = options.onEvent;
  }

  /** Records one event that occurred at `at`. Returns its number, or 0 if it could not be recorded. */
  record<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
    writing: Writing = 'now',
    at = now(),
  ): number {
    try {
      const seq = this.#seq + 1;
      const clean = content && this.#clean(content);
      const text = JSON.stringify({ seq, at, kind, ...facts, ...this.#cleanTest(facts), ...clean });
      this.#seq = seq;
      this.#ring.add(seq, text, openedBy(kind, facts), closedBy(kind, facts));
      if (writing === 'ahead') this.#journal?.appendBuffered(journalKindOf(kind), text);
      else this.#journal?.append(journalKindOf(kind), text);
      this.#onEvent?.(kind, facts, clean);
      return seq;
    } catch (error) {
      this.failures++;
      this.failure ??= String(error);
      return 0;
    }
  }

  flush(): void {
    try {
      this.#journal?.flush();
    } catch (error) {
      this.failures++;
      this.failure ??= String(error);
    }
  }

  cleanText(text: string): string {
    return this.#policy.text(this.#cutText(text));
  }

  cleanWhole(text: string): string {
    return this.#policy.text(text);
  }

  /** The form in which this content would be recorded, to verify that secrets are redacted. */
  clean(content: object): Record<string, unknown> {
    return this.#clean(content);
  }

  /** The text of the bundle part `agent-events.json`. `at`: the death, to which ages are relative. */
  renderPart(at = now(), death: Pick<AgentEventsPart, 'within' | 'failed'> = {}): string {
    const head = { schema: agentEventsSchema, at, evicted: this.#ring.evicted, ...death };
    return `${JSON.stringify(head).slice(0, -1)},"events":[${this.#ring.text()}]}`;
  }

  /**
   * Repeats the start events of open work in the journal. Called by the journal's writer when it drops its oldest records.
   */
  carryOver(): void {
    for (const text of this.#ring.openTexts())
      this.#journal?.append(journalKindOf(JSON.parse(text).kind as AgentEventKind), text);
  }

  #clean<Content extends object>(content: Content): Record<string, unknown> {
    const { attributes, ...rest } = content as { attributes?: Attributes };
    const plain = toPlain(rest, (text) => this.#cutText(text));
    const clean = this.#policy.value(plain) as Record<string, unknown>;
    return attributes ? { ...clean, attributes: this.#cleanAttributes(attributes) } : clean;
  }

  /** The name of a test is the one fact that the program chose. Redacted here, as the policy may not be open before. */
  #cleanTest({ test }: ByOrigin): ByOrigin | undefined {
    if (test === undefined) return undefined;
    if (test !== this.#test?.raw) this.#test = { raw: test, clean: this.cleanText(test) };
    return { test: this.#test.clean };
  }

  /** Only values are checked, because attribute names contain words like `token`. */
  #cleanAttributes(attributes: Attributes): Attributes {
    const clean: Attributes = {};
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === 'string') clean[name] = this.cleanText(value);
      else if (Array.isArray(value)) clean[name] = value.map((text) => this.cleanText(text));
      else clean[name] = value;
    }
    return clean;
  }

  /** Shortens a text that is too long to its start and end, with its length and hash in between. */
  #cutText(text: string): string {
    if (text.length <= this.#textLimit) return text;
    const headChars = Math.floor(this.#textLimit * 0.75);
    const head = this.#policy.text(text.slice(0, headChars + slackChars)).slice(0, -slackChars);
    const tail = this.#policy.text(text.slice(headChars - this.#textLimit - slackChars)).slice(slackChars);
    const hash = hashOf('sha256', text).slice(0, 16);
    return `${head}…[cut: ${text.length} characters in all, sha256 ${hash}]…${tail}`;
  }
}

const openingKinds = /^(run|step|tool|model|wait|http|mcp)\.start$|^lock\.held$/;
const closingKinds = /^(run|step|tool|model|wait|http|mcp)\.end$|^lock\.released$/;

function openedBy(kind: string, facts: Record<string, unknown>): string | undefined {
  return openingKinds.test(kind) ? keyOf(kind, facts) : undefined;
}

function closedBy(kind: string, facts: Record<string, unknown>): string | undefined {
  return closingKinds.test(kind) ? keyOf(kind, facts) : undefined;
}

/**
 * The key of the work that an event is about. Ids are unique across kinds, except for those of runs, which other events
 * contain as well.
 */
function keyOf(kind: string, facts: Record<string, unknown>): string {
  const key = kind.startsWith('run.') ? 'run' : kind.startsWith('model.') ? 'call' : undefined;
  const id = key
    ? facts[key]
    : (facts['id'] ?? facts['wait'] ?? facts['http'] ?? facts['server'] ?? facts['lock']);
  return String(id);
}
