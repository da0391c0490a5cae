/** The run, step and tool call that a piece of code belongs to, as ids of this package. */
export interface AgentScope {
  run?: string;
  step?: string;
  tool?: string;
}
