/**
 * Lists where the async functions of a running program wait, through its inspector (see capture/stacks/suspended.ts). V8
 * first collects all garbage, which blocks the main thread for 30 ms plus 7 ms per MB.
 */
import {
  distinctStacks,
  groups,
  lookText,
  mostPromises,
  type Suspended,
} from '../../capture/stacks/suspended.ts';
import { preloadFile } from '../arm.ts';
import type { LiveFacts } from './live-facts.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

const mostUsedBytes = 64 * 1024 ** 2;
const longestMs = 50;
const mostStacks = 100;
const group = 'agentdump';

/** Runs in the other process, with the list of its promises as `this`. */
const question = `function () {
  const { Script, createContext } = process.getBuiltinModule('node:vm');
  const context = createContext({ __proto__: null }, { microtaskMode: 'afterEvaluate' });
  const evaluate = (text) => new Script(text).runInContext(context);
  const look = evaluate(${JSON.stringify(lookText)});
  const [from, found] = [performance.now(), []];
  const most = Math.min(this.length, ${mostPromises});
  let promises = 0;
  for (let size = ${groups.first}; promises < most && (promises < ${groups.least} || performance.now() - from < ${longestMs}); size *= 2) {
    const some = this.slice(promises, Math.min(promises + Math.min(size, ${groups.largest}), most));
    look(some, found);
    evaluate('0');
    promises += some.length;
  }
  return JSON.stringify({ promises, left: this.length - promises, found: [...new Set(found)] });
}`;

/** Rejects with the reason if the list is not available. */
export async function askSuspended(remote: RemoteDebugger, { memory }: LiveFacts): Promise<Suspended> {
  if ((memory.heap['used_heap_size'] ?? 0) > mostUsedBytes)
    throw new Error('its heap is too large to list the promises without holding it up');
  const idOf = (answer: Record<string, unknown>, field: string): unknown =>
    (answer[field] as { objectId?: unknown } | undefined)?.objectId;
  try {
    const expression = 'Object.getPrototypeOf((async () => {})())';
    const kind = await remote.send('Runtime.evaluate', { expression, objectGroup: group });
    const prototypeObjectId = idOf(kind, 'result');
    const all = await remote.send('Runtime.queryObjects', { prototypeObjectId, objectGroup: group });
    const answer = await remote.send('Runtime.callFunctionOn', {
      functionDeclaration: question,
      objectId: idOf(all, 'objects'),
      returnByValue: true,
      silent: true,
    });
    const { value } = (answer['result'] ?? {}) as { value?: unknown };
    if (typeof value !== 'string') throw new Error('it did not say who waits');
    const { promises, left, found } = JSON.parse(value) as Record<'promises' | 'left', number> & {
      found: string[];
    };
    return { promises, left, stacks: distinctStacks(found, preloadFile).slice(0, mostStacks) };
  } finally {
    await remote.send('Runtime.releaseObjectGroup', { objectGroup: group });
  }
}
