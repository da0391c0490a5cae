/**
 * Where live memory was allocated: V8's sampling heap profiler, in this thread's own inspector session. It enables no
 * debugger. Started when memory is half way to the threshold; it records only what is allocated after that.
 */
import type { HeapProfiler, Session } from 'node:inspector';
import type { AllocationRow, HeapProfilePart } from '../../../bundle/layout/bundle.ts';
import { type HeapUse, hasRoomForProfile } from './heap-room.ts';

const mostRows = 20;
const mostStackFrames = 8;
/** Number of samples at a full heap: reading them takes some milliseconds. */
const samplesAtLimit = 4000;
const smallestInterval = 16 * 1024;

export class AllocationProfile {
  #session: Session | undefined;
  /** Size of the tree when it was last read. */
  #nodes = 0;

  get isArmed(): boolean {
    return this.#session !== undefined;
  }

  /** Throws if this Node has no inspector. */
  arm(limitBytes: number): void {
    const { Session } = process.getBuiltinModule('node:inspector');
    const session = new Session();
    session.connect();
    const samplingInterval = Math.max(smallestInterval, Math.round(limitBytes / samplesAtLimit));
    session.post('HeapProfiler.startSampling', { samplingInterval });
    this.#session = session;
  }

  /** Undefined if it is not armed, or the heap has no room for it. */
  read(usedBytes: number, limitBytes: number, heap: HeapUse): HeapProfilePart | undefined {
    if (!hasRoomForProfile(heap, this.#nodes)) return undefined;
    let head: HeapProfiler.SamplingHeapProfileNode | undefined;
    this.#session?.post('HeapProfiler.getSamplingProfile', (error, { profile }) => {
      if (!error) head = profile.head;
    });
    if (!head) return undefined;
    const { rows, totalBytes, nodes } = largestRows(head);
    this.#nodes = nodes;
    return { at: new Date().toISOString(), usedBytes, limitBytes, sampledBytes: totalBytes, rows };
  }

  disarm(): void {
    this.#session?.disconnect();
    this.#session = undefined;
  }
}

type ProfileNode = HeapProfiler.SamplingHeapProfileNode;

/** Iterative, because the tree is as deep as the program's stacks. */
function largestRows(head: ProfileNode): { rows: AllocationRow[]; totalBytes: number; nodes: number } {
  const found: { path: ProfileNode[]; bytes: number }[] = [];
  const open: ProfileNode[][] = [[head]];
  let totalBytes = 0;
  let nodes = 0;
  for (let path = open.pop(); path; path = open.pop()) {
    const [node] = path;
    if (!node) continue;
    nodes++;
    totalBytes += node.selfSize;
    if (node.selfSize > 0) found.push({ path, bytes: node.selfSize });
    for (const child of node.children) open.push([child, ...path.slice(0, mostStackFrames)]);
  }
  const rows = found
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, mostRows)
    .map(({ path, bytes }) => ({ bytes, stack: path.slice(0, mostStackFrames).flatMap(frameText) }));
  return { rows, totalBytes, nodes };
}

/** As a line of a stack; empty for the root of the tree. */
function frameText({ callFrame }: ProfileNode): string[] {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  if (functionName === '(root)') return [];
  const name = functionName || '(anonymous)';
  return [url ? `${name} (${url}:${lineNumber + 1}:${columnNumber + 1})` : name];
}
