/** What is said about an agent's past: when an expression first held, and what changed between two points. */
import type { AgentMessage, AgentStep, ModelCall, ToolCall } from './agent-state.ts';

export const agentWhereSchema = 'agentdump.agent-where/1';
export const agentDiffSchema = 'agentdump.agent-diff/1';

export interface WhereAnswer {
  expression: string;
  /** How many changes were looked at. */
  mutations: number;
  /** For how many of them the expression had no answer, and what it said at the first. */
  failed: number;
  fault?: string;
  /** Absent when it never held. */
  found?: {
    /** Number of the event, for `--at`. */
    seq: number;
    at: string;
    beforeEndMs: number;
    kind: string;
    runName: string;
    runId?: string;
    stepId?: string;
    toolId?: string;
    changes: ValueChange[];
  };
}

export interface ValueChange {
  op: string;
  /** JSON pointer. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Of one run, or of several; what began or ended between the points. */
export interface PointDiff {
  from: { seq: number; at: string };
  to: { seq: number; at: string };
  runs: RunDiff[];
}

export interface RunDiff {
  id: string;
  name?: string;
  /** As in an agent's run. */
  implicit?: boolean;
  /** It began after the first point. */
  isNew: boolean;
  status?: { before: string; after: string };
  state: ValueChange[];
  plan?: { before?: unknown; after?: unknown };
  /** Began or ended between; as they stood at the second point. */
  steps: AgentStep[];
  modelCalls: ModelCall[];
  toolCalls: ToolCall[];
  /** Said between. */
  messages: AgentMessage[];
  inputTokens: number;
  outputTokens: number;
}
