/**
 * Agent events: the records that say what the agent was doing, one JSON object each, the same in the journal and in the
 * bundle's `agent-events.json`. Ids are ours (`c3` a model call, `t2` a tool call, `m9` a message, …; `@4` is appended
 * in worker thread 4) and unique in one process. Attribute names are those of the OpenTelemetry GenAI conventions;
 * what they do not name is `agentdump.*`. Knows nothing of who records or reads.
 */
export const agentEventsSchema = 'agentdump.agent-events/1';

/** `agent-events.json`: what the bounded buffer in memory still held at the death. */
export interface AgentEventsPart {
  schema: typeof agentEventsSchema;
  /** Time of writing, milliseconds since the epoch: ages of what was in flight count from here. */
  at: number;
  /** Events that were recorded and are not in this list, because the buffer is bounded. */
  evicted: number;
  /** On whose behalf the code ran that had this written: at a death, the code that died. */
  within?: Scope & { from: 'context' | 'only-open' };
  /** Work that had ended with the very object that the process dies of, or with one that caused it; innermost first. */
  failed?: { id: string; as: 'error' | 'cause' }[];
  events: AgentEvent[];
}

/** Keys of OpenTelemetry's GenAI conventions, or `agentdump.…`. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** A message and its parts, as `gen_ai.input.messages` has them. */
export interface Message {
  role: string;
  parts: MessagePart[];
  name?: string;
}

export type MessagePart =
  | { type: 'text'; content: string }
  | { type: 'reasoning'; content: string }
  | { type: 'tool_call'; id?: string; name: string; arguments?: unknown }
  | { type: 'tool_call_response'; id?: string; name?: string; response: unknown; isError?: boolean }
  | { type: 'uri'; modality: string; uri: string }
  | { type: 'file'; modality?: string; file_id: string }
  /** Inline bytes are never kept: their size and hash are. */
  | { type: 'blob'; modality: string; mime_type: string; bytes: number; sha256: string }
  | { type: 'refusal'; content: string }
  | { type: 'other'; kind: string; value?: unknown };

/** The conversation of a call without repeating it: the first `keep` messages of `base`'s list, then `add`. */
export interface ConversationDelta {
  /** A call whose list (its input, then its reply) is continued. Absent: the list starts empty. */
  base?: string;
  keep: number;
  /** Ids of `message` events. */
  add: string[];
  /** The base was named by the host, but this process never saw it: the messages before are not known. */
  unknownBase?: string;
}

export interface EventError {
  type?: string;
  message?: string;
  code?: string | number;
}

/** interrupted: it stopped on purpose, to ask a person, and is run again with the answer. */
export type EndStatus = 'finished' | 'failed' | 'aborted' | 'interrupted';
/** cut: the peer closed the connection, or the stream had no end. */
export type CallStatus = EndStatus | 'cut';

/** A body of HTTP, its content encoding undone. */
export interface HttpBody {
  bytes: number;
  /** Redacted; the beginning, where it is cut; absent where it is no text. */
  text?: string;
  /** Of all bytes as they came, where the text is not the whole body. */
  sha256?: string;
  /** Why it is not whole. encoding: it could not be undone. */
  gap?: 'cut' | 'binary' | 'encoding';
}

/** With `captureHttp: 'content'`: what was asked for. */
export interface HttpAsked {
  /** With its query. */
  path: string;
  body?: HttpBody;
}

/** With `captureHttp: 'content'`: what was answered. */
export interface HttpAnswered {
  headers: Record<string, string>;
  body?: HttpBody;
}

/** Of thread, session, conversation and user, by the names `thread_id` and so on. */
export type RunIds = Record<string, string>;

interface Scope {
  run?: string;
  step?: string;
  tool?: string;
}

/** One operation of RFC 6902. */
export interface StateOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

export interface DeltaTool {
  index: number;
  id?: string;
  name?: string;
  arguments?: string;
}

/** The data of each kind of event. */
export interface AgentEventData {
  'run.start': {
    run: string;
    parent?: string;
    givenId?: string;
    source: string;
    name: string;
    config?: unknown;
    ids?: RunIds;
  };
  'run.end': { run: string; status: EndStatus; tookMs: number; error?: EventError };
  'step.start': Scope & {
    id: string;
    index?: number;
    attempt?: number;
    source: string;
    name: string;
    input?: unknown;
  };
  'step.end': { id: string; status: EndStatus; tookMs: number; result?: unknown; error?: EventError };
  'tool.start': Scope & { id: string; source: string; name: string; callId?: string; arguments?: unknown };
  'tool.end': { id: string; status: EndStatus; tookMs: number; result?: unknown; error?: EventError };
  'model.start': Scope & {
    call: string;
    /** Which tap saw it. */
    source: string;
    conversation: ConversationDelta;
    /** Id of the `message` event with the system instructions. */
    system?: string;
    /** Id of the `tools` event with the tool definitions. */
    tools?: string;
    /** Bytes of the request's body. */
    bytes: number;
    /** Why the body was not read: its parts are then unknown. */
    gap?: string;
    attributes: Attributes;
    ids?: RunIds;
  };
  'model.headers': { call: string; afterMs: number; attributes: Attributes };
  /**
   * What was streamed since the last one; `bytes` and `frames` count from the start of the reply. Text is held back for a
   * while, so a delta may be younger than the last byte, whose time in milliseconds since the epoch `lastByteAt` is.
   */
  'model.delta': {
    call: string;
    lastByteAt?: number;
    bytes: number;
    frames: number;
    text?: string;
    reasoning?: string;
    tools?: DeltaTool[];
  };
  'model.end': {
    call: string;
    status: CallStatus;
    tookMs: number;
    firstByteMs?: number;
    bytes: number;
    frames: number;
    /** Ids of the reply's `message` events. */
    output: string[];
    attributes: Attributes;
    error?: EventError;
    /** Lines of V8's stack text, the caller of `abort()` first. */
    abortStack?: string;
  };
  /** `source`: the host reported it itself, as part of no request. */
  message: Scope & { message: string; role: string; parts: MessagePart[]; name?: string; source?: string };
  tools: { tools: string; definitions: unknown };
  /** A request that is no model call: nothing of its content is recorded unless it is asked for. */
  'http.start': Scope & { http: string; method: string; host: string; asked?: HttpAsked };
  /** What had come of an answer that was still being given when this was written, at a death. */
  'http.answer': { http: string; httpStatus: number; answered: HttpAnswered };
  'http.end': {
    http: string;
    status: CallStatus;
    httpStatus?: number;
    tookMs: number;
    bytes: number;
    error?: EventError;
    abortStack?: string;
    /** Of a request that was over before its start was written. `startedAt` in milliseconds since the epoch. */
    method?: string;
    host?: string;
    startedAt?: number;
    answered?: HttpAnswered;
  };
  /** How many requests were not recorded, because they came too fast. */
  'http.skipped': { count: number };
  state: Scope & { operations: StateOperation[] };
  plan: Scope & { plan: unknown };
  progress: Scope & { done?: number; total?: number; note?: string };
  /** `on`: id of the run, step or tool call whose outcome the awaited promise is. */
  'wait.start': Scope & {
    wait: string;
    waitsFor: 'promise' | 'lock' | 'approval';
    what: string;
    on?: string;
  };
  'wait.end': { wait: string; status: EndStatus; tookMs: number };
  'lock.held': Scope & { lock: string; name: string };
  'lock.released': { lock: string; tookMs: number };
  note: Scope & { text: string; data?: unknown };
  'mcp.message': { server: string; direction: 'sent' | 'received'; rpc: unknown };
  'mcp.start': { server: string; transport: string; command?: string; pid?: number };
  /** `error`: it could not be reached; it may be again later. */
  'mcp.end': { server: string; exitCode?: number; signal?: string; stderr?: string; error?: EventError };
}

export type AgentEventKind = keyof AgentEventData;

/** `at` is milliseconds since the epoch; `seq` counts the events of one process from 1. */
export type AgentEvent = {
  [Kind in AgentEventKind]: { seq: number; at: number; kind: Kind } & AgentEventData[Kind];
}[AgentEventKind];

/** Numbers of the journal's record kinds, by the first word of an event's kind. */
const journalKinds: Record<string, number> = {
  run: 32,
  step: 33,
  tool: 34,
  model: 35,
  message: 37,
  state: 38,
  plan: 39,
  progress: 42,
  wait: 43,
  lock: 44,
  note: 45,
  tools: 46,
  http: 47,
  mcp: 48,
};
const modelFrameKind = 36;

/** The journal's number for an event's records. */
export function journalKindOf(kind: AgentEventKind): number {
  if (kind === 'model.delta') return modelFrameKind;
  const [word = ''] = kind.split('.');
  return journalKinds[word] ?? 45;
}
