/** Keeps a failure of ours from the host: a subscriber of a diagnostics channel that throws would end the process. */

/** `callback`, without its exceptions. After many failures it is not called any more. */
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
