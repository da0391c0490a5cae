/** Keeps failures of this package from the host: a diagnostics channel subscriber that throws would terminate the process. */
import { enterOwnWork, ownWork } from './own-work.ts';

const { apply } = Reflect;

/** Wraps `callback` so that it neither throws nor ends the process. After many failures it is no longer called. */
export function guarded<Arguments extends unknown[]>(
  callback: (...args: Arguments) => void,
): (...args: Arguments) => void {
  let failures = 0;
  return (...args) => {
    if (failures >= failureLimit) return;
    const { depth } = ownWork;
    try {
      enterOwnWork();
      apply(callback, undefined, args);
    } catch {
      failures++;
    } finally {
      ownWork.depth = depth;
    }
  };
}

const failureLimit = 100;
