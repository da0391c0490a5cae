/**
 * `agentdump/langgraph`: a checkpointer for LangGraph. Needs @langchain/langgraph-checkpoint, which is a dependency of
 * LangGraph.
 */

export type { Compaction } from './compact.ts';
export { AgentdumpSaver, type AgentdumpSaverOptions } from './saver.ts';
