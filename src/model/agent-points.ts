/** Results about an agent's past: when an expression first held, and what changed between two points. */
import type { AgentMessage, AgentStep, ModelCall, ToolCall } from './agent-state.ts';

export const agentWhereSchema = 'agentdump.agent-where/1';
export const agentDiffSchema = 'agentdump.agent-diff/1';

export interface WhereAnswer {
  expression: string;
  /** Number of changes that were evaluated. */
  mutations: number;
  /** For how many of them the expression failed, and the first error. */
  failed: number;
  fault?: string;
  /** Absent if it never held. */
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

/** Changes of one or several runs between two points. */
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
  /** The run began after the first point. */
  isNew: boolean;
  status?: { before: string; after: string };
  state: ValueChange[];
  plan?: { before?: unknown; after?: unknown };
  /** Those that began or ended between the points, in their state at the second point. */
  steps: AgentStep[];
  modelCalls: ModelCall[];
  toolCalls: ToolCall[];
  /** Added between the points. */
  messages: AgentMessage[];
  inputTokens: number;
  outputTokens: number;
}
