/**
 * The heaps of a process: V8 has one per isolate, and Node an isolate per JavaScript thread. A heap is a part of its isolate, whose
 * address is on the stack of the thread that runs it, many times.
 */
import { AgentdumpError } from '../../../errors.ts';
import type { HeapPage } from '../../../formats/v8/heap/heap-pages.ts';
import { formatBytes } from '../../../model/quantities.ts';
import type { CoreDump } from '../core-dump.ts';

type Range = readonly [start: number, end: number];

export interface IsolateHeap {
  /** Its address. */
  heap: number;
  /** The kernel's id of the thread that runs it; undefined if it is on no stack. */
  thread?: number;
  /** Of its pages. */
  bytes: number;
}

export interface ThreadStack {
  tid: number;
  range: Range;
}

/** The rest of the isolate surrounds a heap's address within this distance. */
const isolateBytes = 1 << 16;
const mostNamed = 8;

/** The largest first. */
export function findIsolates(
  { memory }: CoreDump,
  pages: readonly HeapPage[],
  stacks: readonly ThreadStack[],
): IsolateHeap[] {
  const bytes = new Map<number, number>();
  for (const page of pages) bytes.set(page.heap, (bytes.get(page.heap) ?? 0) + page.end - page.start);
  const heaps = [...bytes.keys()].sort((a, b) => a - b);
  const counts = new Map(heaps.map((heap) => [heap, { thread: undefined as number | undefined, count: 0 }]));
  for (const { tid, range } of heaps.length > 1 ? stacks : []) {
    const mentions = new Map<number, number>();
    for (let at = range[0]; at + 8 <= range[1]; at += 8) {
      const word = memory.findWord(at);
      const heap = word !== undefined && word > 4096 ? heaps.find((each) => isNear(each, word)) : undefined;
      if (heap !== undefined) mentions.set(heap, (mentions.get(heap) ?? 0) + 1);
    }
    for (const [heap, count] of mentions)
      if (count > counts.get(heap)!.count) counts.set(heap, { thread: tid, count });
  }
  return heaps
    .map((heap): IsolateHeap => {
      const { thread } = counts.get(heap)!;
      return { heap, ...(thread !== undefined && { thread }), bytes: bytes.get(heap)! };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

const isNear = (heap: number, word: number) => Math.abs(heap - word) < isolateBytes;

/**
 * The heap of a thread, or of the main thread if none is named; the largest one if that is not known.
 * @throws `not-found` if the thread has none.
 */
export function chooseIsolate(
  isolates: readonly IsolateHeap[],
  main: number | undefined,
  wanted: number | undefined,
): IsolateHeap {
  const of = (thread: number | undefined) =>
    thread === undefined ? undefined : isolates.find((each) => each.thread === thread);
  if (wanted === undefined) return of(main) ?? isolates[0]!;
  // With one heap no stack is searched.
  const found = isolates.length === 1 && wanted === main ? isolates[0] : of(wanted);
  if (found) return found;
  throw new AgentdumpError(
    'not-found',
    `thread ${wanted} has no heap of its own: there are those of ${isolates.map(nameOf).join(', ')}`,
    { name: String(wanted) },
  );
}

/** What is not in the graph of the chosen one; undefined if there is nothing else. */
export function describeOthers(isolates: readonly IsolateHeap[], chosen: IsolateHeap): string | undefined {
  const others = isolates.filter((each) => each !== chosen);
  if (others.length === 0) return undefined;
  const named = others.slice(0, mostNamed).map((each) => `${nameOf(each)} (${formatBytes(each.bytes)})`);
  const more = others.length > mostNamed ? `, and ${others.length - mostNamed} more` : '';
  const heaps =
    others.length === 1 ? 'the heap of another thread is' : `${others.length} heaps of other threads are`;
  return `${heaps} left out: ${named.join(', ')}${more}; \`agentdump heap --thread\` reads one from a core or a running process`;
}

const nameOf = ({ thread }: IsolateHeap): string =>
  thread === undefined ? 'an unknown thread' : `thread ${thread}`;
