/** Keeps failures of this package from the host: a diagnostics channel subscriber that throws would terminate the process. */

/** Wraps `callback` so that it never throws. After many failures it is no longer called. */
export function guarded<Arguments extends unknown[]>(
  callback: (...args: Arguments) => void,
): (...args: Arguments) => void {
  let failures = 0;
  return (...args) => {
    if (failures >= failureLimit) return;
    try {
      callback(...args);
    } catch {
      failures++;
    }
  };
}

const failureLimit = 100;
