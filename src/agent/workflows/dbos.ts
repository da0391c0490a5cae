/**
 * DBOS Transact: the functions that are passed to `registerWorkflow`, `registerStep` and `runStep` (seen with
 * @dbos-inc/dbos-sdk 5.3). Its decorators register methods in another way and are not recorded.
 */
import { agent } from '../api/api.ts';

type Work = (this: unknown, ...args: unknown[]) => Promise<unknown>;
interface Named {
  name?: string;
}
type Register = (work: Work, config?: Named) => unknown;

/** What is used of the class `DBOS`. */
export interface DbosClass {
  readonly workflowID: string | undefined;
  readonly stepID: number | undefined;
  /** `currentAttempt`: from 1; absent for steps without retries. */
  readonly stepStatus: { currentAttempt?: number } | undefined;
}

const recorded = new WeakSet<object>();

/**
 * Call it once, before workflows are registered: `recordDbos(DBOS)`. A workflow becomes a run with its id, and a step a step
 * with its number and attempt. Throws a TypeError if the class has not these functions.
 */
export function recordDbos(DBOS: DbosClass): void {
  if (recorded.has(DBOS)) return;
  const functions = DBOS as unknown as Record<string, Register>;
  const names = ['registerWorkflow', 'registerStep', 'runStep'];
  const missing = names.filter((name) => typeof functions[name] !== 'function');
  if (missing.length > 0) throw new TypeError(`DBOS has no function ${missing.join(', ')}`);
  recorded.add(DBOS);
  const [registerWorkflow, registerStep, runStep] = names.map((name) => functions[name]!.bind(DBOS));
  functions['registerWorkflow'] = (work, config) => registerWorkflow!(asRun(DBOS, work, config), config);
  functions['registerStep'] = (work, config) => registerStep!(asStep(DBOS, work, config), config);
  functions['runStep'] = (work, config) => runStep!(asStep(DBOS, work, config), config);
}

function asRun(DBOS: DbosClass, work: Work, config: Named | undefined): Work {
  const name = config?.name ?? work.name;
  return named(work, function (...args) {
    const id = DBOS.workflowID;
    return agent.run(name, id === undefined ? {} : { id }, () => work.apply(this, args));
  });
}

/** A step that is called outside of a workflow is recorded too, as DBOS runs it as a plain function. */
function asStep(DBOS: DbosClass, work: Work, config: Named | undefined): Work {
  const name = config?.name ?? work.name;
  return named(work, function (...args) {
    const { workflowID, stepID, stepStatus } = DBOS;
    const input = workflowID === undefined ? undefined : { workflowID, stepID };
    // Nothing else says that this is the first attempt of a step that is not retried.
    const attempt = stepStatus?.currentAttempt ?? 1;
    return agent.step(name, () => work.apply(this, args), { input, attempt });
  });
}

/** DBOS takes the name of a function that is registered without one. */
function named(work: Work, wrapped: Work): Work {
  return Object.defineProperty(wrapped, 'name', { value: work.name, configurable: true });
}
