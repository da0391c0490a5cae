/**
 * Temporal's TypeScript SDK: an interceptor of activities, by the documented interface (`ActivityInterceptorsFactory` of
 * @temporalio/worker, `Info` of @temporalio/activity; seen with 1.24). Workflow code runs in a sandbox of its own, has no
 * effects, and is not recorded.
 */
import { agent } from '../api/api.ts';

/** What is read of an activity's context. */
export interface TemporalContext {
  info: {
    activityId: string;
    activityType: string;
    /** 1 for the first. */
    attempt: number;
    taskQueue?: string;
    workflowType?: string | undefined;
    /** Absent for an activity that no workflow has started. */
    workflowExecution?: { workflowId: string; runId: string } | undefined;
  };
}

export interface RecordedActivities {
  inbound: {
    execute<Input>(input: Input, next: (input: Input) => Promise<unknown>): Promise<unknown>;
  };
}

/** For `interceptors: { activity: [recordActivities] }` of a worker: a run with the workflow's id, and the activity as its step. */
export function recordActivities({ info }: TemporalContext): RecordedActivities {
  const { activityId, activityType, attempt, taskQueue, workflowType, workflowExecution: workflow } = info;
  const id = workflow?.workflowId ?? activityId;
  const config = { runId: workflow?.runId, activityId, attempt, taskQueue };
  return {
    inbound: {
      execute: (input, next) =>
        agent.run(workflowType ?? activityType, { id, config }, () =>
          agent.step(activityType, () => next(input), { attempt }),
        ),
    },
  };
}
