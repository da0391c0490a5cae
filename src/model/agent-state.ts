/** The state of an agent, in the terms of the OpenTelemetry GenAI conventions where they exist. */
import type { Frame } from './thread.ts';
import type { Confidence, Evidence } from './verdict.ts';

export interface AgentState {
  runs: AgentRun[];
  /** What the host program handed over by `agent.set` and `agent.provide`, by name. */
  state?: Record<string, unknown>;
  /** The death where its time is known, else the last record: ages count back from here. */
  endedAt?: string;
  /** Nobody saw when the process died: it lived until `endedAt` at least, and every age is at least what it says. */
  agesAreMinima?: true;
  /** Events that this was made from, and those that were recorded and are lost. */
  events?: { read: number; evicted: number; unreadable: number };
  /** Requests that were no model calls and had not ended. */
  openRequests?: { method: string; host: string; ageMs: number }[];
  /** Requests that were no model calls and did not end well, the newest last; alike ones are one row. */
  failedRequests?: FailedRequest[];
  /** Calls and other requests that the program gave up, where it was seen by whom; the newest last. */
  aborts?: AgentAbort[];
  /** Who waited for whom; absent when nobody did. */
  waitGraph?: WaitGraph;
  /** Calls that came again and again, the most frequent first. */
  loops?: AgentLoop[];
  /** Where no conversation was recorded: arrays of the heap that look like one. */
  candidates?: ConversationCandidate[];
  /** Servers of the Model Context Protocol that it talked to. */
  servers?: McpServer[];
  /** What went wrong and was not made good, the one that explains most first. */
  failures?: AgentFailure[];
  /** The agent's work on whose behalf the code ran that died: by its asynchronous context, or because it was the only open one. */
  diedIn?: { runId?: string; stepId?: string; toolId?: string; from: 'context' | 'only-open' };
  /**
   * Work that had ended with the very error object that the process died of (`error`), or with one of its causes, by the
   * recorder's own ids; the innermost first.
   */
  diedOf?: { id: string; as: 'error' | 'cause' }[];
}

/** Runs, steps, calls, locks and promises that were open, and what each could not end without. */
export interface WaitGraph {
  nodes: WaitNode[];
  edges: WaitEdge[];
  /** Circles of edges: nobody in one can go on before another one of it does. */
  cycles: WaitCycle[];
}

export interface WaitNode {
  id: string;
  kind: 'program' | 'run' | 'step' | 'tool' | 'model-call' | 'request' | 'lock' | 'promise' | 'approval';
  name: string;
  /** How long it had been open. */
  ageMs?: number;
  /** It is over, although somebody still waits for what it holds. */
  ended?: true;
  /** Of a model call: since the last byte of the reply. */
  lastByteAgeMs?: number;
}

/** `holds`: it has begun what it points to and not ended it. `held-by`: from a lock to its holder. */
export interface WaitEdge {
  from: string;
  to: string;
  why: 'waits' | 'holds' | 'held-by';
  ageMs?: number;
}

export interface WaitCycle {
  /** Ids in their order; the last one waits for the first. */
  nodes: string[];
  /** "run a and run b wait for each other". */
  title: string;
  /** Each step of the circle in words. */
  sentence: string;
}

export interface AgentLoop {
  /** exact-repeat: one call. ping-pong: two in turn. circle: three or more. error-repeat: a call that fails alike. */
  kind: 'exact-repeat' | 'error-repeat' | 'ping-pong' | 'circle';
  runId: string;
  /** One turn: calls with their arguments, shortened. */
  calls: string[];
  times: number;
  /** No other call came after it. */
  ongoing: boolean;
  startedAt?: string;
  lastedMs?: number;
  /** Of the run's model calls in that time. */
  tokens?: number;
  sentence: string;
}

/** Nobody said that it is a conversation: its objects have the shape of messages. */
export interface ConversationCandidate {
  inferred: true;
  /** From the roots of the heap, as one would write it. */
  path: string;
  messages: number;
  bytes: number;
  /** The last ones, cut; absent where the snapshot has no values. */
  shown?: { role: string; content: string }[];
}

export interface McpServer {
  id: string;
  transport?: string;
  /** The command line, or the host. */
  command?: string;
  pid?: number;
  ended?: { beforeEndMs: number; exitCode?: number; signal?: string; stderr?: string; error?: AgentError };
  /** Lines of its output that are no messages of the protocol: the beginning of the last one. */
  unreadable?: { line: string; times: number; beforeEndMs: number };
}

/** The classes of agent failures; `title` contains their description for people. */
export const agentFailureKinds = [
  'rate-limit',
  'quota',
  'overload',
  'dangling-tool-call',
  'context-overflow',
  'authentication',
  'bad-request',
  'provider-error',
  'connection',
  'malformed-output',
  'server-died',
  'tool-error',
  'loop',
  'aborted',
  'approval-pending',
  'starvation',
] as const;
export type AgentFailureKind = (typeof agentFailureKinds)[number];

export interface AgentFailure {
  kind: AgentFailureKind;
  /** One sentence without its full stop. */
  title: string;
  confidence: Confidence;
  evidence: Evidence[];
  /** It is what the process died of, as sure as `causeConfidence` says. */
  isCauseOfDeath: boolean;
  /**
   * certain: the error object itself, the asynchronous context at the death or the provider's id of the request shows it.
   * likely: the error says the same.
   */
  causeConfidence?: Confidence;
  runId: string;
  /** Ids of the model call, tool call or step. */
  callId?: string;
  nextStep?: string;
}

/** Ages count back from the death. */
export interface AgentRun {
  /** As the host gave it; else the recorder's number. */
  id: string;
  name?: string;
  status: 'running' | 'finished' | 'failed' | 'waiting';
  startedAt?: string;
  steps: AgentStep[];
  modelCalls: ModelCall[];
  toolCalls: ToolCall[];
  /** The longest conversation of the run, as the model saw it at its last call, and the reply. */
  messages: AgentMessage[];
  /** What was seen to begin and not to end, one sentence each, the longest first, what was left behind last. */
  pending: string[];
  /** The same with its ids, in the same order. */
  open?: OpenWork[];
  /** Tool calls that the model asked for and that nothing showed to begin or to end, one sentence each. */
  requested?: string[];
  state?: unknown;
  usage?: TokenUsage;
  /** Of the calls whose price is known; absent when none is. Prices are those of the days named, the oldest first. */
  cost?: { usd: number; pricedCalls: number; calls: number; pricesOf: string[] };
  /** Of thread, session, conversation and user (`thread_id`, …), as the framework or the requests had them. */
  ids?: Record<string, string>;
  /** The run around this one: this is a sub-agent. */
  parentId?: string;
  /** The program named no run: everything that was seen outside of one. */
  implicit?: boolean;
  /** What the host said it was configured with. */
  config?: unknown;
  durationMs?: number;
  error?: AgentError;
  plan?: unknown;
  progress?: { done?: number; total?: number; note?: string; ageMs: number };
  notes?: { at: string; text: string; data?: unknown }[];
  waits?: AgentWait[];
  /** What the host reported by `agent.message`. */
  reportedMessages?: AgentMessage[];
  /** Conversations beside the longest: the last call of each and how long its list is. */
  otherConversations?: { lastCall: string; messages: number }[];
  /** Messages at the start of the conversation that are not known: another process or an evicted record had them. */
  unknownMessages?: number;
}

export interface FailedRequest {
  method: string;
  host: string;
  httpStatus?: number;
  error?: AgentError;
  times: number;
  /** For the request of the server whose work died, or for others; absent if either is not known. */
  madeFor?: 'own' | 'others';
  /** How many others. */
  others?: number;
  /** Of the newest. */
  beforeEndMs: number;
}

export interface AgentAbort {
  /** Of a model call. */
  callId?: string;
  /** Of any other request: `GET api.example.com`. */
  request?: string;
  beforeEndMs: number;
  error?: AgentError;
  /** V8's text, the caller of `abort()` first. */
  stackText: string;
  frames?: Frame[];
}

export interface OpenWork {
  kind: 'model-call' | 'tool' | 'step' | 'wait';
  /** The recorder's own id; a wait has none. */
  id?: string;
  text: string;
  ageMs: number;
  /** Whoever began it had gone on: what was around it had ended, or the model was given an answer in its place. */
  leftBehind?: true;
}

/** The display name of a run. */
export function nameOfRun({ id, name, implicit }: Pick<AgentRun, 'id' | 'name' | 'implicit'>): string {
  return implicit ? 'the program (it named no run)' : (name ?? id);
}

/** `thread_id weather-42, user_id 7`; empty if none is known. */
export function idsOfRun({ ids = {} }: Pick<AgentRun, 'ids'>): string {
  return Object.entries(ids)
    .map(([name, id]) => `${name} ${id}`)
    .join(', ');
}

export interface AgentStep {
  id: string;
  name?: string;
  status: string;
  /** From 2 on; absent for a first attempt, and if the program does not report attempts. */
  attempt?: number;
  startedAt?: string;
  durationMs?: number;
  parentId?: string;
  ageMs?: number;
  result?: unknown;
  error?: AgentError;
}

export interface ModelCall {
  id?: string;
  provider?: string;
  model?: string;
  status: string;
  inputTokens?: number;
  outputTokens?: number;
  /** What was new in this request: the messages before are those of the call that it continues. */
  request?: unknown;
  response?: unknown;
  stepId?: string;
  startedAt?: string;
  durationMs?: number;
  /** Of a call in flight. */
  ageMs?: number;
  lastByteAgeMs?: number;
  firstByteMs?: number;
  bytes?: number;
  frames?: number;
  /** What had been streamed of a reply that never ended. */
  partialText?: string;
  finishReasons?: string[];
  /** Where it was sent: `api.openai.com` or `127.0.0.1:8000`, and the path of the request. */
  server?: string;
  path?: string;
  /** What showed that it is a model call, where the host is not that of a known provider. */
  recognizedBy?: 'path and body' | 'body';
  /** It failed before a request was sent: known from the framework that made it. */
  notSent?: true;
  httpStatus?: number;
  /** The provider's, from the head of the reply. */
  requestId?: string;
  /** As the reply had it: seconds, or a date. */
  retryAfter?: string;
  error?: AgentError;
  /** By the vendor's list price, where it is known; with the day on which that was checked. */
  cost?: { usd: number; priceOf: string };
  /** Attempt of the client, 0 for the first. */
  resendCount?: number;
  /** The request of this program's server for which it was made: an id of `requests`, or of one that was over. */
  serverRequest?: string;
  /** The test for which it was made: its name, below those of its suites. */
  test?: string;
}

export interface ToolCall {
  id: string;
  /** Our own id, where it was reported as it began; `id` is the provider's when there is one. */
  eventId?: string;
  name: string;
  status: ToolCallStatus;
  /** Why it was not run: the words of whoever refused it, or the limit that ended the run first. */
  because?: string;
  arguments?: unknown;
  result?: unknown;
  error?: unknown;
  stepId?: string;
  /** The model call whose reply asked for it. */
  requestedBy?: string;
  /** As those of a model call. */
  serverRequest?: string;
  test?: string;
  startedAt?: string;
  durationMs?: number;
  ageMs?: number;
  /** It was running, and the model was given an answer in its place. */
  answeredBeforeEndMs?: number;
}

/**
 * requested: the model asked for it, and nothing showed it to begin or to end. refused: it was not allowed to run.
 * limit: the model asked for it, and the run ended at its own limit before it ran. finished: it returned. failed: it threw.
 */
export type ToolCallStatus =
  | 'requested'
  | 'running'
  | 'finished'
  | 'failed'
  | 'aborted'
  | 'interrupted'
  | 'refused'
  | 'limit';

export interface AgentMessage {
  role: string;
  content: unknown;
  id?: string;
}

export interface TokenUsage {
  inputTokens?: number;
  outputTokens?: number;
}

export interface AgentError {
  type?: string;
  message?: string;
  code?: string | number;
}

export interface AgentWait {
  /** The recorder's own. */
  id?: string;
  kind: string;
  what: string;
  ageMs: number;
  /** The step that waits. */
  stepId?: string;
  /** For a lock: the run, step or tool that holds it. */
  heldBy?: string;
}
