/**
 * Surveys V8's heaps: counts objects by constructor, and finds every suspended async function with the async functions that
 * await it. One walk over the pages of all isolates.
 */

import { whereMapped } from '../../../bytes/memory.ts';
import { findHeapPages, type HeapObject, walkPage } from '../../../formats/v8/heap/heap-pages.ts';
import { type ClassCount, Histogram } from '../../../formats/v8/heap/histogram.ts';
import { ObjectCounter } from '../../../formats/v8/heap/object-counter.ts';
import { findSuspended, type SuspendedFunction } from '../../../formats/v8/suspended.ts';
import { ValueRenderer } from '../../../formats/v8/values.ts';
import type { HandleFacts, SuspendedStack } from '../../../model/account.ts';
import type { Frame, LocalVariable, Thread } from '../../../model/thread.ts';
import type { Gap } from '../../../model/verdict.ts';
import { isInApp } from '../../stacks/in-app.ts';
import type { CoreDump } from '../core-dump.ts';
import { displayName, readSource } from './javascript-frame.ts';
import { surveyPart } from './survey-note.ts';
import { describeTimers, maxTimers, timerClass } from './timers.ts';
import type { V8Runtime } from './v8-runtime.ts';

export interface HeapSurvey {
  classes: ClassCount[];
  suspended: SuspendedStack[];
  timers: HandleFacts[];
  /** Size in bytes of the pages that contain objects. */
  pageBytes: number;
}

const maxPageBytes = 8 * 2 ** 30;
const searchedStack = 1 << 16;
const maxSuspended = 200_000;
const maxStacks = 200;
const maxDepth = 32;
/** V8's functions during which live objects are on two pages, or still on the page that they leave. */
const movers = /^v8::internal::(?:ScavengerCollector::CollectGarbage|MarkCompactCollector::Evacuate)/;
/** A thread that collects garbage has the address of its heap in at least this many stack slots, and no other heap's. */
const leastMentions = 2;

/** `threads`: as described for the account; they show whether a garbage collection was running. */
export function surveyHeap(
  dump: CoreDump,
  v8: V8Runtime,
  gaps: Gap[],
  threads: readonly Thread[] = [],
): HeapSurvey {
  const { heap } = v8;
  const collecting = findCollecting(dump, threads);
  if (collecting.isUnderWay)
    gaps.push({
      part: surveyPart,
      reason: 'a collection of garbage was moving objects: the counts may be a little off',
    });
  const ranges = dump.core.segments
    .filter((s) => s.fileSize > 0 && s.writable && !s.executable)
    .map((s) => [s.start, s.start + s.fileSize] as const);
  const pages = findHeapPages(heap, ranges, usedStacks(dump), collecting.isCollecting);
  const histogram = new Histogram(heap);
  const waiting: number[] = [];
  const timers: number[] = [];
  const { asyncFunctionObject, asyncGeneratorObject } = heap.layout.types;
  const isAsync = (type: number) => type === asyncFunctionObject || type === asyncGeneratorObject;
  const counter = new ObjectCounter(
    heap,
    (map, type) => isAsync(type) || histogram.nameOf(map, type) === timerClass,
  );
  const visit = (found: HeapObject) => {
    if (histogram.add(found) === timerClass && timers.length < maxTimers) timers.push(found.object);
    if (isAsync(found.type) && waiting.length < maxSuspended) waiting.push(found.object);
  };
  let pageBytes = 0;
  for (const page of pages) {
    pageBytes += page.end - page.start;
    if (pageBytes > maxPageBytes) {
      gaps.push({
        part: surveyPart,
        reason: `only the first ${maxPageBytes} bytes of it were counted`,
      });
      break;
    }
    walkPage(heap, page, visit, counter);
  }
  for (const counted of counter.maps()) histogram.addCounted(counted);
  if (pages.length === 0) gaps.push({ part: surveyPart, reason: 'no page of a V8 heap was recognised' });
  return {
    classes: histogram.classes(),
    suspended: describeWaiting(v8, waiting),
    timers: describeTimers(v8, timers),
    pageBytes,
  };
}

/** Whether a garbage collection was moving objects, and in which heaps. */
export function findCollecting(dump: CoreDump, threads: readonly Thread[]) {
  const collectors = threads.filter(isMovingObjects).map(({ id }) => wordsOfStack(dump, Number(id)));
  return {
    isUnderWay: collectors.length > 0,
    isCollecting: (owner: number) =>
      collectors.some((words) => words.filter((word) => word === owner).length >= leastMentions),
  };
}

const isMovingObjects = ({ frames }: Thread) => frames.some((frame) => movers.test(frame.function ?? ''));

function wordsOfStack(dump: CoreDump, tid: number): number[] {
  const [start, end] = usedStacks(dump, tid)[0] ?? [0, 0];
  const words: number[] = [];
  for (let at = start; at < end; at += 8) words.push(dump.memory.findWord(at) ?? 0);
  return words;
}

/** The used stack of each thread, or of one, from the stack pointer up. */
function usedStacks({ core, memory }: CoreDump, of?: number): (readonly [number, number])[] {
  return core.threads.flatMap(({ tid, stackPointer }) => {
    if (of !== undefined && tid !== of) return [];
    const sp = Math.floor(stackPointer / 8) * 8;
    const extent = memory.findExtent(sp);
    return extent ? [[sp, Math.min(extent.end, sp + searchedStack)] as const] : [];
  });
}

/** One stack for each suspended function that doesn't await another async function; identical stacks are counted. */
function describeWaiting(v8: V8Runtime, objects: number[]): SuspendedStack[] {
  const all = new Map<number, SuspendedFunction>();
  for (const object of objects) {
    const found = findSuspended(v8.heap, v8.functions, v8.scripts, object);
    if (found) all.set(object, found);
  }
  const awaited = new Set<number>();
  for (const { awaitedBy } of all.values()) if (awaitedBy !== undefined) awaited.add(awaitedBy);
  const bySignature = new Map<string, { chain: SuspendedFunction[]; count: number }>();
  for (const leaf of all.values()) {
    if (awaited.has(leaf.object)) continue;
    const chain = chainOf(leaf, all);
    const signature = chain.map(
      ({ function: f, place }) => `${f.script?.id}:${f.name}:${place?.line}:${place?.column}`,
    );
    const known = bySignature.get(signature.join('\n'));
    if (known) known.count++;
    else bySignature.set(signature.join('\n'), { chain, count: 1 });
  }
  return [...bySignature.values()]
    .map(({ chain, count }) => ({ count, frames: chain.map((each) => describeSuspended(v8, each)) }))
    .sort((a, b) => Number(hasOwn(b)) - Number(hasOwn(a)) || b.count - a.count)
    .slice(0, maxStacks);
}

const hasOwn = (stack: SuspendedStack) => stack.frames.some((frame) => frame.inApp);

function chainOf(leaf: SuspendedFunction, all: Map<number, SuspendedFunction>): SuspendedFunction[] {
  const chain: SuspendedFunction[] = [];
  for (
    let current: SuspendedFunction | undefined = leaf;
    current && chain.length < maxDepth && !chain.includes(current);
    current = current.awaitedBy === undefined ? undefined : all.get(current.awaitedBy)
  )
    chain.push(current);
  return chain;
}

function describeSuspended(v8: V8Runtime, found: SuspendedFunction): Frame {
  const { script } = found.function;
  const part = {
    tier: 'interpreter' as const,
    isInlined: false,
    function: found.function,
    receiver: found.receiver,
  };
  const name = whereMapped(() => displayName(v8, part, false)) ?? found.function.name;
  const source = script && found.place && readSource(v8, script, found.place.line);
  return {
    inApp: script !== undefined && isInApp(script.name),
    trust: 'heap',
    async: true,
    address: `0x${(found.object - 1).toString(16)}`,
    ...(name ? { function: name } : {}),
    ...(script ? { file: script.name } : {}),
    ...(found.place ? { line: found.place.line, column: found.place.column } : {}),
    ...(source ? { source } : {}),
    locals: describeValues(v8, found),
  };
}

/** Parameters by name; registers, for which V8 keeps no names, only if they contain something useful. */
function describeValues(v8: V8Runtime, found: SuspendedFunction): LocalVariable[] {
  const renderer = new ValueRenderer(v8.heap, v8.functions);
  const names = found.function.parameters;
  const locals: LocalVariable[] = found.parameters.map((value, i) => ({
    name: names[i] ?? `arguments[${i}]`,
    scope: 'argument',
    value: renderer.render(value),
  }));
  found.registers.forEach((register, i) => {
    const value = renderer.render(register);
    const saysNothing = /^(?:undefined$|\{\}$|globalThis$|\(|\[Function)/.test(value);
    if (!saysNothing) locals.push({ name: `r${i}`, scope: 'register', value });
  });
  return locals;
}
