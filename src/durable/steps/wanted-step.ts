import type { DurableStepOptions, DurableWork } from '../options.ts';
import type { StepCall } from './claim.ts';

/** A step as the program asks for it. */
export interface WantedStep extends StepCall {
  options: DurableStepOptions;
  /** Runs the host's function; the run's records of it are not its affair. */
  work: (step: DurableWork) => unknown;
  /** Calls `inner`, which is the work and its record, as the step that the bundle tells of; may answer in its place. */
  watch?: (inner: () => Promise<unknown>, step: DurableWork) => unknown;
}
