/** Ends what is left of a run: asked first, then killed. */

import { signals } from '../../platform/signals.ts';
import { findTree, isAlive, type RunProcess } from './tree.ts';

const pollMs = 25;

/** Resolves when nothing of the tree is left, or could be killed. */
export async function endTree(rootPid: number, mark: string, patienceMs: number): Promise<void> {
  const tree = findTree(rootPid, mark);
  send(tree, signals.end);
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline && tree.some(({ pid }) => isAlive(pid)))
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  // Found anew: a dying parent may have started more.
  send(new Set([...tree, ...findTree(rootPid, mark)]), signals.kill);
}

function send(processes: Iterable<RunProcess>, signal: NodeJS.Signals): void {
  for (const { pid } of processes)
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
}
