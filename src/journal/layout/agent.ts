/**
 * Agent events: the records of what the agent was doing, one JSON object each, with the same shape in the journal and in the
 * bundle's `agent-events.json`. Ids are assigned by this package (`c3` a model call, `t2` a tool call, `m9` a message, …; in
 * worker thread 4 with the suffix `@4`) and unique within a process. Attribute names are those of the OpenTelemetry GenAI
 * conventions; anything without a name there is `agentdump.*`. Knows nothing of recorders and readers.
 */
export const agentEventsSchema = 'agentdump.agent-events/1';

/** `gap` of a `model.start` that no request followed: reported by the framework that made the call. */
export const noRequestGap = 'no request was sent';

/** `agent-events.json`: the contents of the bounded buffer in memory at the death. */
export interface AgentEventsPart {
  schema: typeof agentEventsSchema;
  /** Time of writing in milliseconds since the epoch. Ages of work in flight are relative to it. */
  at: number;
  /** Number of recorded events that are missing from this list because the buffer is bounded. */
  evicted: number;
  /** The work of the code that triggered the writing. At a death, the code that died. */
  within?: Scope & { from: 'context' | 'only-open' };
  /** Work that had ended with the same error object that ends the process, or with one of its causes; innermost first. */
  failed?: { id: string; as: 'error' | 'cause' }[];
  events: AgentEvent[];
}

/** Keys of OpenTelemetry's GenAI conventions, or `agentdump.…`. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** A message and its parts, as in `gen_ai.input.messages`. */
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
  /** Inline bytes are never kept, only their size and hash. */
  | { type: 'blob'; modality: string; mime_type: string; bytes: number; sha256: string }
  | { type: 'refusal'; content: string }
  | { type: 'other'; kind: string; value?: unknown };

/** The conversation of a call as a delta: the first `keep` messages of the list of `base`, then `add`. */
export interface ConversationDelta {
  /** The call whose list (its input, then its reply) is continued. If absent, the list starts empty. */
  base?: string;
  keep: number;
  /** Ids of `message` events. */
  add: string[];
  /** The host named a base that this process has never seen, so the earlier messages are not known. */
  unknownBase?: string;
}

export interface EventError {
  type?: string;
  message?: string;
  code?: string | number;
}

/** `interrupted`: stopped on purpose to wait for human input, and run again with the answer. */
export type EndStatus = 'finished' | 'failed' | 'aborted' | 'interrupted';
/** `cut`: the peer closed the connection, or the stream was incomplete. */
export type CallStatus = EndStatus | 'cut';

/** An HTTP body, after its content encoding was undone. */
export interface HttpBody {
  bytes: number;
  /** Redacted. Only the beginning if the body was cut; absent if it is not text. */
  text?: string;
  /** Of all bytes as they were received, before decoding and redaction, if the text is not the whole body. */
  sha256?: string;
  /** Why it is incomplete. `encoding`: the content encoding could not be undone. */
  gap?: 'cut' | 'binary' | 'encoding';
}

/** The request, with `captureHttp: 'content'`. */
export interface HttpAsked {
  /** Including the query. */
  path: string;
  body?: HttpBody;
}

/** The answer, with `captureHttp: 'content'`. */
export interface HttpAnswered {
  headers: Record<string, string>;
  body?: HttpBody;
}

/** Ids of thread, session, conversation and user, as `thread_id` and so on. */
export type RunIds = Record<string, string>;

interface Scope {
  run?: string;
  step?: string;
  tool?: string;
}

/** In whose asynchronous context it began; absent if that was none. */
export interface ByOrigin {
  /** The id of the server's request, as in `origin.json`. */
  request?: string;
  /** The name of the test, with those of its suites. Redacted when it is recorded. */
  test?: string;
}

/** One operation according to RFC 6902. */
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
  'tool.start': Scope &
    ByOrigin & { id: string; source: string; name: string; callId?: string; arguments?: unknown };
  'tool.end': { id: string; status: EndStatus; tookMs: number; result?: unknown; error?: EventError };
  'model.start': Scope &
    ByOrigin & {
      call: string;
      /** The tap that saw it. */
      source: string;
      conversation: ConversationDelta;
      /** Id of the `message` event with the system instructions. */
      system?: string;
      /** Id of the `tools` event with the tool definitions. */
      tools?: string;
      /** Size of the request's body in bytes. */
      bytes: number;
      /** Why the body was not read. Its contents are then unknown. */
      gap?: string;
      attributes: Attributes;
      ids?: RunIds;
    };
  'model.headers': { call: string; afterMs: number; attributes: Attributes };
  /**
   * What was streamed since the last delta. `bytes` and `frames` are counted from the start of the reply. Text is held back
   * for a while, so a delta may be more recent than the last byte, which arrived at `lastByteAt` (milliseconds since the
   * epoch).
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
    /** Lines of V8's stack text, starting at the caller of `abort()`. */
    abortStack?: string;
  };
  /** `source`: set if the host reported the message itself, not as part of a request. */
  message: Scope & { message: string; role: string; parts: MessagePart[]; name?: string; source?: string };
  tools: { tools: string; definitions: unknown };
  /** A request that is not a model call. Its content is not recorded unless enabled. */
  'http.start': Scope & ByOrigin & { http: string; method: string; host: string; asked?: HttpAsked };
  /** The part of an unfinished answer that had arrived when this was written, at a death. */
  'http.answer': { http: string; httpStatus: number; answered: HttpAnswered };
  'http.end': ByOrigin & {
    http: string;
    status: CallStatus;
    httpStatus?: number;
    tookMs: number;
    bytes: number;
    error?: EventError;
    abortStack?: string;
    /** For a request that was over before its start was written. `startedAt` is in milliseconds since the epoch. */
    method?: string;
    host?: string;
    startedAt?: number;
    answered?: HttpAnswered;
  };
  /** The number of requests that were not recorded because of the limit per second. */
  'http.skipped': { count: number };
  state: Scope & { operations: StateOperation[] };
  plan: Scope & { plan: unknown };
  progress: Scope & { done?: number; total?: number; note?: string };
  /** `on`: the id of the run, step or tool call whose outcome is awaited. */
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
  /** `unreadable`: the beginning of a line of a server's output that is no message. */
  'mcp.message': { server: string; direction: 'sent' | 'received'; rpc: unknown; unreadable?: string };
  'mcp.start': { server: string; transport: string; command?: string; pid?: number };
  /** `error`: the server could not be reached; it may become reachable later. */
  'mcp.end': { server: string; exitCode?: number; signal?: string; stderr?: string; error?: EventError };
}

export type AgentEventKind = keyof AgentEventData;

/** `at` is in milliseconds since the epoch; `seq` counts the events of a process, starting at 1. */
export type AgentEvent = {
  [Kind in AgentEventKind]: { seq: number; at: number; kind: Kind } & AgentEventData[Kind];
}[AgentEventKind];

/** The journal's record kinds, by the first word of an event's kind. */
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

/** The journal's record kind for an event. */
export function journalKindOf(kind: AgentEventKind): number {
  if (kind === 'model.delta') return modelFrameKind;
  const [word = ''] = kind.split('.');
  return journalKinds[word] ?? 45;
}
