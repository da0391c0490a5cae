/** The heap of a living process, read from a copy of its memory: it stands still only while the copy is made. */
import type { CoreGraph, CoreGraphOptions } from '../../../analysis/core/graph/core-graph.ts';
import { AgentdumpError } from '../../../errors.ts';
import { platform } from '../../../platform/index.ts';
import { note } from '../../output/output.ts';

/** A collection of garbage takes only milliseconds, so a further copy usually finds the heap at rest. */
const mostCopies = 3;

/** The number of a process that is alive; undefined for any other word. */
export function processOf(word: string): number | undefined {
  if (!/^[1-9]\d{0,8}$/.test(word)) return undefined;
  try {
    process.kill(Number(word), 0);
    return Number(word);
  } catch (error) {
    // Alive, but of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? Number(word) : undefined;
  }
}

/** A process that is looked at again and again. */
export interface Watched {
  pid: number;
  /** Tells it from a later one with its number; undefined where the system doesn't tell. */
  start: string | undefined;
}

export function watch(pid: number): Watched {
  return { pid, start: platform.startToken(pid) };
}

/** @throws `not-found` if it has ended, whoever has its number now. */
export function requireSame({ pid, start }: Watched): void {
  const now = platform.startToken(pid);
  const isOver = now === undefined ? start !== undefined : platform.processStat(pid)?.[0] === 'Z';
  if (!isOver && now === start) return;
  const what = isOver ? 'has ended' : 'has ended, and another one has its number';
  throw new AgentdumpError('not-found', `process ${pid} ${what}: it cannot be looked at again`, {
    name: String(pid),
  });
}

/** @throws `not-found` with the reason if its memory can't be read, or there is no room for a copy. */
export async function openProcess(pid: number, options: CoreGraphOptions): Promise<CoreGraph> {
  if (!platform.hasProcessFiles || process.arch !== 'x64')
    throw new AgentdumpError('not-found', 'the memory of another process can be read on Linux x64 only', {
      name: String(pid),
    });
  const { readCoreGraph } = await import('../../../analysis/core/graph/core-graph.ts');
  const { copyWhole, requireKnownMemory } = await import('../../../supervise/native/copied-heap.ts');
  const { CopiedMemory } = await import('../../../supervise/native/copied-memory.ts');
  for (let copies = 1; ; copies++) {
    const copy = readable(pid, () => {
      requireKnownMemory(pid);
      return copyWhole(pid);
    });
    const graph = readCoreGraph(new CopiedMemory(copy), options);
    if (graph.isCollecting && copies < mostCopies) {
      graph.close();
      continue;
    }
    note(`process ${pid} stood still for ${Math.round(copy.pauseMs)} ms while its memory was copied`);
    const gaps = [...copy.gaps.map((reason) => ({ part: 'copy of the memory', reason })), ...graph.gaps];
    return { ...graph, gaps };
  }
}

function readable<Result>(pid: number, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentdumpError('not-found', `the heap of process ${pid} cannot be read: ${reason}`, {
      name: String(pid),
    });
  }
}
