/**
 * `agentdump/durable`: the API for hosts besides `agent` itself: stores, workers, inspecting runs, repairing conversations.
 */
export type { Mask } from '../agent/calls/masks.ts';
export type { ChildWish } from './approvals/child-run.ts';
export { cancelRun, enqueueRun, type QueuedRun, sendSignal } from './dispatch/act-on-run.ts';
export type { ForwardOptions } from './dispatch/forward-options.ts';
export type { JobOptions, PerformedRun } from './dispatch/perform-due.ts';
export type { Schedule } from './dispatch/schedule.ts';
export { type RunWait, waitForRun } from './dispatch/wait-for-run.ts';
export type { WorkerOptions } from './dispatch/worker-options.ts';
export { answerApproval, type RunState, type RunSummary, rollBack, summarizeRun } from './inspect.ts';
export { forwardDueRuns, performDueRun } from './jobs.ts';
export type * from './options.ts';
export type { CheckpointContents, CheckpointPlan, RestoredCheckpoint } from './records/checkpoint.ts';
export { type ClassSerializer, registerClass } from './records/classes.ts';
export { registerLangChainMessages } from './records/langchain-messages.ts';
export type { Answer, RunRetry, Signal, Spent } from './records/layout.ts';
export { type FileReference, referenceFile, verifyReference } from './records/reference.ts';
export { type RepairedConversation, repairConversation } from './runs/repair-conversation.ts';
export { FileStore } from './stores/file-store.ts';
export { openStore } from './stores/find-store.ts';
export type { PostgresClient, PostgresPool } from './stores/postgres/pool.ts';
export { PostgresStore, type PostgresStoreOptions } from './stores/postgres-store.ts';
export type { QueueLimits, RunLimit, RunRate } from './stores/queue-limits.ts';
export type {
  DueRun,
  DueWish,
  DurableStore,
  MaybePromise,
  QueueWish,
  RunHandle,
  RunReading,
  RunRest,
  RunTitle,
  StoredRecord,
  TakenFromQueues,
  TakenRun,
} from './stores/store.ts';
export { startWorker, type Worker } from './worker.ts';
