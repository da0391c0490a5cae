/**
 * Whether a call is made by the code that its run awaits, and not by one of several branches that it has started: then there is
 * only one such call at its position, whatever its function captures. V8 tells that by the stack of awaiting functions, which ends
 * where a promise is awaited by nothing, or by more than one, and names `Promise.all` and the like.
 */
import { quietly } from '../../../agent/quiet-stack.ts';

const name = 'agentdump durable run';
const deepest = 100;

/** Calls the run's function. Its name is looked for in stacks. */
export const callRun = {
  async [name](work: () => unknown): Promise<unknown> {
    return await work();
  },
}[name];

export function isOnMainLine(): boolean {
  const stack = quietly(deepest, () => new Error().stack ?? '');
  const reached = stack.indexOf(`at async ${name} `);
  return reached >= 0 && !stack.slice(0, reached).includes('at async Promise.');
}
