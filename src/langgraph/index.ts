/** `agentdump/langgraph`: a checkpointer for LangGraph. Needs @langchain/langgraph-checkpoint, which LangGraph brings. */

export type { Compaction } from './compact.ts';
export { AgentdumpSaver, type AgentdumpSaverOptions } from './saver.ts';
