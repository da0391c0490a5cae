/** `agentdump/durable`: what hosts use beside `agent` itself: stores, workers, looking at runs, repairing conversations. */
export type { CheckpointContents, CheckpointPlan, RestoredCheckpoint } from './checkpoint.ts';
export { FileStore } from './file-store.ts';
export { openStore } from './find-store.ts';
export { answerApproval, type RunState, type RunSummary, rollBack, summarizeRun } from './inspect.ts';
export type { Answer, Spent } from './layout.ts';
export type * from './options.ts';
export type { PostgresPool } from './postgres-pool.ts';
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
export { type FileReference, referenceFile, verifyReference } from './reference.ts';
export { type RepairedConversation, repairConversation } from './repair-conversation.ts';
export type { DurableStore, MaybePromise, RunHandle, RunReading, StoredRecord } from './store.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
