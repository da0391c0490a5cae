/**
 * The heap of another process: read from a copy of its memory, or, if that is not possible, as V8's own snapshot through its
 * inspector. For the latter the process is blocked until the snapshot is written, and needs additional memory.
 */
import { canary, canaryName } from '../../capture/fatal-path/canary.ts';
import { type CopiedHeap, type HeapReader, readCopiedHeap } from '../native/copied-heap.ts';
import { HeapMembers } from '../scrub/heap-members.ts';
import { MemberSpool } from '../scrub/member-spool.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

export interface LiveHeap extends CopiedHeap {
  from: 'memory' | 'v8';
  /** Why it was not read from memory. */
  reason?: string;
}

const longestMs = 300_000;

/** Without a reader, V8 writes the snapshot. Rejects if neither works; V8 can only be asked through an inspector. */
export async function takeLiveHeap(
  pid: number,
  scrubber: Scrubber,
  readHeap: HeapReader | undefined,
  remote: RemoteDebugger | undefined,
): Promise<LiveHeap> {
  if (!readHeap) {
    if (!remote) throw new Error('V8 can’t be asked for a snapshot');
    return { ...(await askV8(remote, scrubber)), from: 'v8' };
  }
  try {
    return { ...(await readCopiedHeap(pid, readHeap, scrubber)), from: 'memory' };
  } catch (error) {
    if (!remote) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...(await askV8(remote, scrubber)), from: 'v8', reason };
  }
}

async function askV8(remote: RemoteDebugger, scrubber: Scrubber): Promise<CopiedHeap> {
  // Drops the counts of the failed attempt, which is in no part.
  scrubber.resetCounts();
  const began = performance.now();
  const members = await readSnapshot(remote, scrubber);
  return { members, pauseMs: performance.now() - began, gaps: [] };
}

/** The canary is sent in two halves, which alone are no canary, joined on the program's heap, and released afterwards. */
const canaryGroup = 'agentdump-canary';
function planting(): string {
  const halves = JSON.stringify([canary().slice(0, 12), canary().slice(12)]);
  return `({ ${canaryName}: ${halves}.join('') })`;
}

async function readSnapshot(remote: RemoteDebugger, scrubber: Scrubber): Promise<MemberSpool> {
  const spool = new MemberSpool();
  const members = new HeapMembers(scrubber, (member) => spool.add(member));
  let failure: unknown;
  remote.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    if (failure !== undefined) return;
    try {
      members.write(Buffer.from(String(chunk)));
    } catch (error) {
      failure = error;
    }
  });
  try {
    await remote.send('Runtime.evaluate', { expression: planting(), objectGroup: canaryGroup });
    try {
      await remote.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, longestMs);
    } finally {
      await remote.send('Runtime.releaseObjectGroup', { objectGroup: canaryGroup }).catch(() => {});
    }
    if (failure !== undefined) throw failure;
    members.end();
    return spool;
  } catch (error) {
    spool.close();
    throw error;
  }
}
