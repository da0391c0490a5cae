import type { DurableStepOptions, DurableWork } from '../options.ts';
import type { StepCall } from './claim.ts';

/** A step as the program calls it. */
export interface WantedStep extends StepCall {
  options: DurableStepOptions;
  /** Runs the host's function; independent of the run's records. */
  work: (step: DurableWork) => unknown;
  /** The host's function. */
  host?: object;
  /** Called when it has returned, or has failed. */
  onEnd?: () => void;
  /**
   * Calls `inner`, which is the work and its record, wrapped in the step that is written to the bundle; may replace its
   * result.
   */
  watch?: (inner: () => Promise<unknown>, step: DurableWork) => unknown;
}
