/** What the agent was doing, in the words of the OpenTelemetry GenAI conventions where they have one. */

export interface AgentState {
  runs: AgentRun[];
  /** What the host program handed over by `agent.set` and `agent.provide`, by name. */
  state?: Record<string, unknown>;
}

export interface AgentRun {
  id: string;
  name?: string;
  status: 'running' | 'finished' | 'failed' | 'waiting';
  startedAt?: string;
  steps: AgentStep[];
  modelCalls: ModelCall[];
  toolCalls: ToolCall[];
  messages: AgentMessage[];
  /** What was awaited and had not settled. */
  pending: string[];
  state?: unknown;
  usage?: TokenUsage;
}

export interface AgentStep {
  id: string;
  name?: string;
  status: string;
  startedAt?: string;
  durationMs?: number;
}

export interface ModelCall {
  id?: string;
  provider?: string;
  model?: string;
  status: string;
  inputTokens?: number;
  outputTokens?: number;
  request?: unknown;
  response?: unknown;
}

export interface ToolCall {
  id: string;
  name: string;
  status: string;
  arguments?: unknown;
  result?: unknown;
  error?: unknown;
}

export interface AgentMessage {
  role: string;
  content: unknown;
}

export interface TokenUsage {
  inputTokens?: number;
  outputTokens?: number;
}
