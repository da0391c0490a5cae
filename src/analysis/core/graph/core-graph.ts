/**
 * Reads the heap's object graph from a core, in the form of V8's heap snapshots, so that all queries on snapshots work on a
 * dead process. Refuses versions of V8 for which the result was never compared with V8's own snapshot.
 */
import type { ByteSource } from '../../../bytes/byte-source.ts';
import { AgentdumpError, MalformedInput } from '../../../errors.ts';
import type { HeapGraph } from '../../../formats/v8/graph/graph.ts';
import type { BuiltinNames } from '../../../formats/v8/graph/node-facts.ts';
import { readGraph } from '../../../formats/v8/graph/read-graph.ts';
import { findHeapPages, findReadOnlyPages, type HeapPage } from '../../../formats/v8/heap/heap-pages.ts';
import type { Gap } from '../../../model/verdict.ts';
import { type CoreDump, openAnyCore, openCoreDump, openCoreSource } from '../core-dump.ts';
import { findCollecting } from '../javascript/heap-survey.ts';
import { findSurveyNote } from '../javascript/survey-note.ts';
import { openV8, type V8Runtime } from '../javascript/v8-runtime.ts';
import { findRuntimeAddress } from '../native/module-map.ts';
import { builtinName } from '../native/native-names.ts';
import { describeThread } from '../thread-stack.ts';
import { chooseIsolate, describeOthers, findIsolates, type ThreadStack } from './isolates.ts';

export interface CoreGraph {
  /** Reads from the core until that is closed. */
  graph: HeapGraph;
  /** True if a garbage collection was moving objects. */
  isCollecting: boolean;
  gaps: Gap[];
  close(): void;
}

type Range = readonly [start: number, end: number];

const part = 'heap of the core';
const blobName = 'v8_Default_embedded_blob_code_';
const blobBytes = 1 << 24;
const pageAlignment = 1 << 18;
const searchedStack = 1 << 23;

export interface CoreGraphOptions {
  /** Path of the program's Node, if it is not where the core recorded it. */
  executable?: string;
  /** Replaces every string that is only a value. */
  withheld?: string;
  /** The kernel's id of the thread whose heap is read. Default: the main thread. */
  thread?: number;
  /** See GraphOptions. */
  keepsEdges?: boolean;
  /** Called with the graph and the readers. */
  onGraph?: (graph: HeapGraph, v8: V8Runtime, dump: CoreDump) => void;
}

/** For a core in any form. @throws like `openAnyCore` and `readCoreGraph`. */
export async function readAnyCoreGraph(path: string, options: CoreGraphOptions = {}): Promise<CoreGraph> {
  return graphOf(await openAnyCore(path, options), options);
}

/**
 * @throws `not-found`, `malformed-input`, `usage` for a mini core, and `unsupported-version` for a V8 that was never
 * compared.
 */
export function readCoreGraph(core: string | ByteSource, options: CoreGraphOptions = {}): CoreGraph {
  const dump = typeof core === 'string' ? openCoreDump(core, options) : openCoreSource(core, options);
  return graphOf(dump, options);
}

function graphOf(dump: CoreDump, options: CoreGraphOptions): CoreGraph {
  try {
    const gaps = [...dump.gaps];
    const v8 = openV8(dump, gaps);
    if (!v8)
      throw new MalformedInput(`no heap can be read: ${gaps.at(-1)?.reason}`, {
        format: 'core',
        field: 'V8',
      });
    const found = readFrom(dump, v8, gaps, options);
    options.onGraph?.(found.graph, v8, dump);
    const close = () => {
      found.graph.release();
      dump.close();
    };
    return { ...found, gaps, close };
  } catch (error) {
    dump.close();
    throw error;
  }
}

function readFrom(
  dump: CoreDump,
  v8: V8Runtime,
  gaps: Gap[],
  { withheld, keepsEdges, thread }: CoreGraphOptions,
): Omit<CoreGraph, 'gaps' | 'close'> {
  if (findSurveyNote(dump))
    throw new AgentdumpError('usage', 'a mini core holds no heap: the questions need the full core', {
      argument: 'file',
    });
  const { line, isGraphProven } = v8.heap.layout;
  if (!isGraphProven)
    throw new AgentdumpError(
      'unsupported-version',
      `the heap of V8 ${Math.floor(line / 100)}.${line % 100} cannot be read out of a core: it was never compared with V8's own snapshot`,
      { format: 'core', name: 'V8', version: line },
    );
  const segments = dump.core.segments.filter((s) => s.fileSize > 0);
  const rangesOf = (which: typeof segments): Range[] => which.map((s) => [s.start, s.start + s.fileSize]);
  const writable = rangesOf(segments.filter((s) => s.writable));
  const threads = dump.core.threads.map((thread) =>
    describeThread(dump, thread, { v8, crashed: false, values: false, gaps: [] }),
  );
  const collecting = findCollecting(dump, threads);
  const stacks = stacksOf(dump);
  const stackRanges = stacks.map(({ range }) => range);
  const allPages = findHeapPages(v8.heap, writable, stackRanges, collecting.isCollecting);
  if (allPages.length === 0)
    throw new MalformedInput('no page of a V8 heap was recognised in the core', {
      format: 'core',
      field: 'heap',
    });
  const readOnlyPages = findReadOnlyPages(
    v8.heap,
    rangesOf(segments.filter((s) => !s.writable && !s.executable)),
  );
  const isolates = findIsolates(dump, allPages, stacks);
  const chosen = chooseIsolate(isolates, dump.core.process?.pid, thread);
  const pages = allPages.filter((page) => page.heap === chosen.heap);
  const others = describeOthers(isolates, chosen);
  if (others !== undefined) gaps.push({ part, reason: others });
  // Without another heap a collection is its own, whatever the stack tells.
  const isCollecting =
    collecting.isUnderWay && (isolates.length === 1 || collecting.isCollecting(chosen.heap));
  if (isCollecting)
    gaps.push({ part, reason: 'a collection of garbage was moving objects: some may be lost' });
  const sources = {
    memory: dump.memory,
    heaps: [chosen.heap],
    pages,
    readOnlyPages,
    native: without(rangesOf(segments.filter((s) => s.writable && !s.executable)), allPages),
    stacks: stackRanges,
    builtinAt: builtinNames(v8),
  };
  const graph = readGraph(v8.heap, sources, {
    withheld,
    keepsEdges,
    onSizeless: (count) =>
      gaps.push({ part, reason: `${count} objects do not tell their size, and count as nothing` }),
    onTornScopes: (count) =>
      gaps.push({ part, reason: `${count} scopes are torn: the names of their variables are missing` }),
    onNativeCut: () =>
      gaps.push({
        part,
        reason: 'there is too much memory of C++ objects: not all that belongs to them is in the graph',
      }),
  });
  gaps.push({
    part,
    reason:
      'only what something keeps alive is in the graph; of objects of C++, only those behind a JavaScript object, by size; roots in native memory are guessed from their form',
  });
  return { graph, isCollecting };
}

/** The used stack of each thread, from the stack pointer up. */
function stacksOf({ core, memory }: CoreDump): ThreadStack[] {
  return core.threads.flatMap(({ tid, stackPointer }) => {
    const sp = Math.floor(stackPointer / 8) * 8;
    const extent = memory.findExtent(sp);
    return extent ? [{ tid, range: [sp, Math.min(extent.end, sp + searchedStack)] as const }] : [];
  });
}

/** The parts of `ranges` that are not on a page of V8's heap. */
function without(ranges: readonly Range[], pages: readonly HeapPage[]): Range[] {
  const taken = pages
    .map(({ start, end }): Range => [Math.floor(start / pageAlignment) * pageAlignment, end])
    .sort((a, b) => a[0] - b[0]);
  const left: Range[] = [];
  for (const [start, end] of ranges) {
    let at = start;
    for (const [from, to] of taken) {
      if (to <= at || from >= end) continue;
      if (from > at) left.push([at, from]);
      at = Math.max(at, to);
    }
    if (at < end) left.push([at, end]);
  }
  return left;
}

/** V8's built-in code is where the executable was loaded, or was copied as a whole next to V8's other code. */
function builtinNames({ module }: V8Runtime): BuiltinNames {
  const blob = module.code?.findNamed(blobName);
  const loaded = blob && findRuntimeAddress(module, blob.address);
  return (address, first) => {
    if (!blob || loaded === undefined) return undefined;
    const isLoaded = address >= loaded && address < loaded + blobBytes;
    const linked = blob.address + (address - (isLoaded ? loaded : first));
    const symbol = module.code?.findFunction(linked);
    return symbol?.address === linked ? builtinName(symbol) : undefined;
  };
}
