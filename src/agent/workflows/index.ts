/**
 * `agentdump/workflows`: programs that live on Temporal or DBOS. Their workflows, activities and steps are recorded as runs and
 * steps, so that a death names the workflow's id, the activity or step, and its attempt. Nothing else is stored: the engine's
 * own log is the only one. Without the preload both cost a call.
 */
export { type DbosClass, recordDbos } from './dbos.ts';
export { recordActivities, type TemporalContext } from './temporal.ts';
