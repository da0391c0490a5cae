/**
 * Where async functions wait. V8 lists the promises (after a collection of garbage), and adds to the stack of an error
 * that is made in a reaction the functions which await the promise behind it, innermost first: the zero-cost async stack
 * traces of V8's isolate.cc. So a reaction of ours is put in front of each promise, by a constructor that answers with that
 * promise (Symbol.species), and nothing of the promise is changed. It runs in a context with microtasks of its own: none of
 * the program's are run. A wait for what nobody can reach any more is garbage, and not found. Node 20 to 26.
 */

import { listObjects, type ObjectKind } from '../heap/list-objects.ts';

export interface Suspended {
  /** Promises that were looked at. */
  promises: number;
  /** Not looked at, as there were too many. */
  left: number;
  /** Lines `at async …` in V8's form, the positions not mapped, each text once. Without what Node awaits itself. */
  stacks: string[];
}

export const mostPromises = 20_000;
const atOnce = 500;
const mostFrames = 64;

type Look = (promises: object[], found: string[]) => void;

/** Makes one error a promise; `found` has the text of each, once the microtasks of its context were run. */
export const lookText = `(function (promises, found) {
  const nothing = () => {};
  Error.stackTraceLimit = ${mostFrames};
  Error.prepareStackTrace = (error, sites) =>
    sites.filter((site) => site.isAsync()).map((site) => '    at ' + site).join('\\n');
  for (const promise of promises) {
    const step = Promise.resolve().then(() => { found.push(new Error('waits').stack); });
    function Species(executor) { executor(nothing, nothing); return promise; }
    step.constructor = { [Symbol.species]: Species };
    step.then(nothing);
  }
})`;

/**
 * @param hasTime asked between groups of promises.
 * @param ownFile the preload's, whose own waits are left out. Throws where a Node has no inspector.
 */
export function listSuspended(hasTime: () => boolean, ownFile?: string): Suspended {
  const { Script, createContext } = process.getBuiltinModule('node:vm');
  const context = createContext({ __proto__: null } as object, { microtaskMode: 'afterEvaluate' });
  const evaluate = (text: string): unknown => new Script(text).runInContext(context);
  const lookAt = evaluate(lookText) as Look;
  const found: string[] = [];
  let promises = 0;
  let left = 0;
  listObjects((all) => {
    const most = Math.min(all.length, mostPromises);
    while (promises < most && (promises === 0 || hasTime())) {
      const group = all.slice(promises, Math.min(promises + atOnce, most));
      lookAt(group, found);
      evaluate('0');
      promises += group.length;
    }
    left = all.length - promises;
  }, promiseKind);
  return { promises, left, stacks: distinctStacks(found, ownFile) };
}

const promiseKind: ObjectKind = { example: '(async () => {})()' };

/**
 * A function that waits for another is found twice: by the promise of that one, and at the end of the stack of what that
 * one waits for. Several promises may lead to one function, so how many wait alike is not known.
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

/** Node waits for itself all the time. */
function isOfProgram(stack: string, ownFile = '\n'): boolean {
  return stack
    .split('\n')
    .some((line) => /[/\\]/.test(line) && !/node:/.test(line) && !line.includes(ownFile));
}
