/**
 * What taps, integrations and the explicit API share in one thread: the sink, ids, the asynchronous context (which run, step
 * and tool the running code belongs to), the conversations, and the work in flight.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type {
  AgentEventData,
  AgentEventKind,
  AgentEventsPart,
  ByOrigin,
  Message,
} from '../../journal/layout/agent.ts';
import { DeltaClock } from '../calls/delta-clock.ts';
import { roleOf } from '../calls/message-parts.ts';
import { RequestMemory } from '../http/request-memory.ts';
import { asyncHooks } from '../node-modules.ts';
import { BeginSites } from './begin-sites.ts';
import { BoundedMap } from './bounded-map.ts';
import { Conversation } from './conversation.ts';
import { FailedWork } from './failed-work.ts';
import { OpenWork } from './open-work.ts';
import { PassingSet } from './passing-set.ts';
import type { AgentScope } from './scope.ts';
import type { AgentSink, Writing } from './sink.ts';
import { TappedCalls } from './tapped-calls.ts';

export type ContentLevel = 'content' | 'metadata';

/** Work in flight that can record how far it got, at a death. */
export interface InFlight {
  flush(): void;
}

/** Limits of the number of runs whose parents are known, and of their nesting. */
const runLimit = 10_000;
const deepestRuns = 100;

export class AgentRecorder {
  readonly sink: AgentSink;
  readonly level: ContentLevel;
  /** For requests that are not model calls. */
  readonly httpLevel: ContentLevel;
  readonly conversation: Conversation;
  readonly requests = new RequestMemory();
  readonly inFlight = new PassingSet<InFlight>();
  readonly deltas = new DeltaClock(() => this.sink.flush());
  /** Scopes of the running code according to the asynchronous contexts of frameworks. */
  readonly contexts: (() => AgentScope | undefined)[] = [];
  readonly openWork = new OpenWork();
  /** Where abort() was called for the newest model call that ended so. */
  lastAbortStack: string | undefined;
  /** Tool calls in the newest reply of a model. */
  asked = 0;
  /** Whether a start of a tool call was ever reported. */
  hearsTools = false;
  readonly tapped = new TappedCalls();
  readonly failedWork = new FailedWork();
  readonly sites = new BeginSites();
  readonly #readOrigin: () => ByOrigin;
  readonly #suffix: string;
  readonly #parents = new BoundedMap<string>(runLimit);
  #counts: Record<string, number> = {};
  #storage: AsyncLocalStorage<AgentScope> | undefined;

  constructor(
    sink: AgentSink,
    levels: { model: ContentLevel; http: ContentLevel },
    threadId: number,
    readOrigin: () => ByOrigin = () => ({}),
  ) {
    this.sink = sink;
    this.#readOrigin = readOrigin;
    this.level = levels.model;
    this.httpLevel = levels.http;
    this.#suffix = threadId === 0 ? '' : `@${threadId}`;
    this.conversation = new Conversation({
      message: (message) => this.#recordMessage(message),
      tools: (definitions) => this.#recordTools(definitions),
    });
  }

  /** A new id: the letter, a count, and the thread if it is not the main thread. */
  nextId(letter: string): string {
    const count = (this.#counts[letter] ?? 0) + 1;
    this.#counts[letter] = count;
    return `${letter}${count}${this.#suffix}`;
  }

  /** The scope of the running code. Outside of every context, the scope of the only open work of a framework. */
  get scope(): AgentScope {
    return this.#known() ?? this.openWork.only() ?? {};
  }

  /** The same, with its origin: known from a context, or the only open work. Undefined if there is neither. */
  get within(): AgentEventsPart['within'] {
    const known = this.#known();
    const scope = known ?? this.openWork.only();
    return scope && { ...scope, from: known ? 'context' : 'only-open' };
  }

  /** The server's request and the test that the running code belongs to, as fields of an event. */
  get byOrigin(): ByOrigin {
    return this.#readOrigin();
  }

  /** Like `record` of the sink, but without conversations, arguments and results if these are not to be recorded. */
  report<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
    writing?: Writing,
  ): void {
    if (kind === 'tool.start') this.hearsTools = true;
    if (kind === 'run.start') this.#addRun(facts as Partial<AgentEventData['run.start']>);
    const { error } = (content ?? {}) as Partial<AgentEventData['tool.end']>;
    if (error) this.failedWork.note(endedBy(kind, facts), error);
    const known = kind === 'tool.start' ? { ...facts, ...this.byOrigin } : facts;
    this.sink.record(kind, known, this.level === 'content' ? content : withoutContent(content), writing);
  }

  /** The storage behind `scope`, created on first use: on Node 20 and 22 an active storage slows every promise. */
  get storage(): AsyncLocalStorage<AgentScope> {
    this.#storage ??= new (asyncHooks().AsyncLocalStorage)<AgentScope>();
    return this.#storage;
  }

  /** Records how far everything in flight got: at a death, before the part is rendered. */
  flush(): void {
    for (const one of this.inFlight) one.flush();
  }

  #addRun({ run, parent }: Partial<AgentEventData['run.start']>): void {
    if (run !== undefined && parent !== undefined) this.#parents.set(run, parent);
  }

  /** The inner one of the scopes in our storage and in a framework's context. */
  #known(): AgentScope | undefined {
    const ours = this.#storage?.getStore();
    for (const context of this.contexts) {
      const theirs = context();
      if (theirs) return ours && this.#isInside(ours.run, theirs.run) ? ours : theirs;
    }
    return ours;
  }

  #isInside(run: string | undefined, outer: string | undefined): boolean {
    let at = run;
    for (let depth = 0; at !== undefined && depth < deepestRuns; depth++) {
      if (at === outer) return true;
      at = this.#parents.get(at);
    }
    return false;
  }

  #recordMessage(message: Message): string {
    const id = this.nextId('m');
    this.sink.record(
      'message',
      { message: id, role: roleOf(message.role) },
      { parts: message.parts, ...nameOf(message) },
      'ahead',
    );
    return id;
  }

  #recordTools(definitions: unknown): string {
    const id = this.nextId('d');
    this.sink.record('tools', { tools: id }, { definitions }, 'ahead');
    return id;
  }
}

/** The id of the work that the event ends. */
function endedBy(kind: AgentEventKind, { run, id, server }: { run?: string; id?: string; server?: string }) {
  return kind === 'run.end' ? run : kind === 'mcp.end' ? server : id;
}

/** Keeps names and timing only. */
function withoutContent<Content extends object>(content: Content | undefined): Content | undefined {
  if (!content) return undefined;
  const { arguments: _arguments, result, input, parts, ...rest } = content as Record<string, unknown>;
  return (parts === undefined ? rest : { ...rest, parts: [] }) as Content;
}

function nameOf({ name }: Message): { name?: string } {
  return name === undefined ? {} : { name };
}
