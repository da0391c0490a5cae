/** Where in the agent's work a piece of code runs. Ids of ours. */
export interface AgentScope {
  run?: string;
  step?: string;
  tool?: string;
}
