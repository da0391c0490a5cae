/** Ends what is left of a run: SIGTERM first, then SIGKILL. */

import { signals } from '../../platform/signals.ts';
import { findTree, isAlive, type RunProcess } from './tree.ts';

const pollMs = 25;

/** Resolves when all processes of the tree have ended or been sent SIGKILL. */
export async function endTree(rootPid: number, mark: string, patienceMs: number): Promise<void> {
  const tree = findTree(rootPid, mark);
  send(tree, signals.end);
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline && tree.some(({ pid }) => isAlive(pid)))
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  // Searched again, because a dying parent may have started more processes.
  send(new Set([...tree, ...findTree(rootPid, mark)]), signals.kill);
}

function send(processes: Iterable<RunProcess>, signal: NodeJS.Signals): void {
  for (const { pid } of processes)
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
}
