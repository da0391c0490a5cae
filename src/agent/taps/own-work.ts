/**
 * Whether the code that runs in this thread was called by us. A function that the program has replaced may call process.exit;
 * if only our code calls it, the program would end because of us. Such a call throws instead (event-tap.ts sees it when Node
 * emits `exit`), and what we were doing is given up. Every callback of ours that Node or the program calls goes through
 * `guarded` or `ours`; a function of the program that we call on purpose is called outside of them. All halves of the preload
 * share one counter.
 */

export interface OwnWork {
  /** Nested calls. */
  depth: number;
  /** process.exitCode before the outermost of them. */
  exitCode: unknown;
}

/** Bound by half-loader.ts in the halves that are compiled later. */
declare const AGENTDUMP_OWN_WORK: OwnWork | undefined;

export const ownWork: OwnWork =
  typeof AGENTDUMP_OWN_WORK === 'undefined'
    ? ({ __proto__: null, depth: 0, exitCode: undefined } as OwnWork)
    : AGENTDUMP_OWN_WORK;

const { apply } = Reflect;
const { get, set } = Object.getOwnPropertyDescriptor(process, 'exitCode') ?? {};

/** The caller sets `depth` back in a `finally`. Throws, if the stack is full, before it has changed anything. */
export function enterOwnWork(): void {
  if (ownWork.depth === 0) ownWork.exitCode = get && apply(get, process, []);
  ownWork.depth++;
}

/** Returns what `run` returns, or undefined if it throws. */
export function ours<Value>(run: () => Value): Value | undefined {
  const { depth } = ownWork;
  try {
    enterOwnWork();
    return run();
  } catch {
    return undefined;
  } finally {
    ownWork.depth = depth;
  }
}

/** Node has set both before it emits `exit`. */
export function refuseExit(): never {
  (process as { _exiting?: boolean })._exiting = false;
  if (set) apply(set, process, [ownWork.exitCode]);
  throw new Error('the process would end because of a call by agentdump');
}
