/** The clock of a replay: `Date` begins at the recorded start and runs at normal speed. Timers are not changed. */

/** Returns a function that restores the real clock. */
export function setClock(startedAtMs: number): () => void {
  const RealDate = globalThis.Date;
  const realNow = RealDate.now;
  const offsetMs = startedAtMs - realNow();
  const now = () => realNow() + offsetMs;
  const ReplayedDate = new Proxy(RealDate, {
    construct(target, args, newTarget) {
      return Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget);
    },
    // Called as a function, `Date` returns the time as text, whatever its arguments.
    apply: () => new RealDate(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
  Object.defineProperty(RealDate.prototype, 'constructor', {
    value: ReplayedDate,
    configurable: true,
    writable: true,
  });
  globalThis.Date = ReplayedDate;
  return () => {
    Object.defineProperty(RealDate.prototype, 'constructor', {
      value: RealDate,
      configurable: true,
      writable: true,
    });
    globalThis.Date = RealDate;
  };
}
