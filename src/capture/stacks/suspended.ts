/**
 * Where async functions wait. V8 lists the promises (after a garbage collection). To the stack of an error that is created in
 * a reaction, V8 adds the functions that await the reaction's promise, innermost first: the zero-cost async stack traces of
 * V8's isolate.cc. So a reaction of our own is chained in front of each promise, by a constructor that returns that promise
 * instead of a new one (Symbol.species); the promise itself is not changed. The reactions run in a context with its own
 * microtask queue, so that none of the program's microtasks run. A function that waits for something unreachable is garbage,
 * and not found. Node 20 to 26.
 */

import { listObjects } from '../heap/list-objects.ts';
import { listElsewhere } from '../heap/other-realms.ts';

export interface Suspended {
  /** Promises that were examined. */
  promises: number;
  /** Promises that were not examined, because there were too many. */
  left: number;
  /** Lines `at async …` in V8's format, the positions not mapped, each text once. Without what Node itself awaits. */
  stacks: string[];
}

export const mostPromises = 20_000;
/**
 * What a promise costs is not known before: to name the method of a frame, V8 searches all fields of its object (10 ms for 200,000).
 * So the first group is one promise, and each is twice as large as the one before while there is time, at first in any case: on a
 * busy machine a single one can take as long.
 */
export const groups = { first: 1, largest: 512, least: 63 } as const;
const mostFrames = 64;

type Look = (promises: object[], found: string[]) => void;

/**
 * Creates one error per promise; `found` has the text of each, once the microtasks of its context have run. The constructor is
 * inherited: one on a promise itself makes every later `await` of the process slower (agent/taps/own-timer.ts).
 */
export const lookText = `(function (promises, found) {
  const nothing = () => {};
  Error.stackTraceLimit = ${mostFrames};
  Error.prepareStackTrace = (error, sites) =>
    sites.filter((site) => site.isAsync()).map((site) => '    at ' + site).join('\\n');
  let promise;
  function Species(executor) { executor(nothing, nothing); return promise; }
  class Step extends Promise { static get [Symbol.species]() { return Species; } }
  for (promise of promises) {
    const step = Promise.resolve().then(() => { found.push(new Error('waits').stack); });
    Object.setPrototypeOf(step, Step.prototype);
    step.then(nothing);
  }
})`;

/**
 * Must not run under a time limit of `node:vm`, a deadline of ours included: while hooks are enabled (an AsyncLocalStorage on Node 20 and
 * 22), Node pushes an id before a reaction and pops it after it. What V8 terminates in a reaction is never popped, and Node
 * aborts the process in one of its next callbacks (nodejs/node 38503, 43135).
 *
 * Throws if this Node has no inspector.
 * @param hasTime called between groups of promises.
 * @param ownFile the preload's, whose own waits are left out.
 * @param contexts of `node:vm`, whose promises are listed too.
 */
export function listSuspended(
  hasTime: () => boolean,
  ownFile?: string,
  contexts: readonly object[] = [],
): Suspended {
  const { Script, createContext } = process.getBuiltinModule('node:vm');
  const context = createContext({ __proto__: null } as object, { microtaskMode: 'afterEvaluate' });
  const evaluate = (text: string): unknown => new Script(text).runInContext(context);
  const lookAt = evaluate(lookText) as Look;
  const found: string[] = [];
  let promises = 0;
  let left = 0;
  const look = (all: object[]): void => {
    const most = Math.min(all.length, mostPromises);
    let looked = 0;
    for (let size: number = groups.first; looked < most && (looked < groups.least || hasTime()); size *= 2) {
      const group = all.slice(looked, Math.min(looked + Math.min(size, groups.largest), most));
      lookAt(group, found);
      evaluate('0');
      looked += group.length;
    }
    promises += looked;
    left += all.length - looked;
  };
  // First, because what is asked about is there, and the time may be used up afterwards.
  if (contexts.length > 0) listElsewhere(look, example, contexts);
  listObjects(look, { example });
  return { promises, left, stacks: distinctStacks(found, ownFile) };
}

const example = '(async () => {})()';

/**
 * If a function waits for another, it is found twice: through the promise of the other, and at the end of the stack of what
 * the other waits for. Several promises may lead to one function, so the number of functions in the same wait is not known.
 */
export function distinctStacks(found: readonly string[], ownFile?: string): string[] {
  const stacks = new Set(found.filter((stack) => stack !== ''));
  const ends = new Set<string>();
  for (const stack of stacks)
    for (
      let at = stack.indexOf('\n');
      at >= 0 && !ends.has(stack.slice(at + 1));
      at = stack.indexOf('\n', at + 1)
    )
      ends.add(stack.slice(at + 1));
  return [...stacks].filter((stack) => !ends.has(stack) && isOfProgram(stack, ownFile));
}

/** Node always has waits of its own. */
function isOfProgram(stack: string, ownFile = '\n'): boolean {
  return stack
    .split('\n')
    .some((line) => /[/\\]/.test(line) && !/node:/.test(line) && !line.includes(ownFile));
}
