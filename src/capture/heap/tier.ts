/**
 * Decides beforehand what is taken of the heap, within the allowed cost of the death: the dump must not be what gets the
 * container killed. The upper estimate for the heap's bytes decides about a snapshot; if memory is in question and that does
 * not fit, the objects are counted, and then the names.
 */
import type { MemoryPart, TriggerPart } from '../../bundle/layout/bundle.ts';
import { findMemoryCgroup, readGroupLimits } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';
import type { Config } from '../install/config.ts';
import {
  type Cost,
  censusCost,
  countingCost,
  estimateCounted,
  estimateNamed,
  estimateUpper,
  largeBytes,
  type SnapshotEstimate,
} from './estimate.ts';
import { countHeapNames } from './names.ts';
import { countHeapObjects } from './objects.ts';

/** Reasons for not taking a snapshot that are not reported as gaps, because nobody would miss it. */
const notPressed = 'memory is not in question';
const noCrash = 'it was asked to end, or never ran, and memory is not in question';
export const isNotMissed = (reason: string): boolean => reason.startsWith(notPressed) || reason === noCrash;

/**
 * What the heap may add to the cost of a death. The rest of the bundle has what is left of 250 ms and 64 MB (docs/cost.md).
 */
const ofDeath: Cost = { bytes: 32 * 1024 ** 2, ms: 100 };
/** For a death due to memory, or a requested snapshot, which may use all free memory. Compared with upper estimates. */
const longestAskedMs = 2_000;
/** The part of it that may be spent on finding out whether a snapshot fits. */
const longestCountingMs = 500;
/** Share of the remaining memory for what is counted, because the program, and others in its group, continue meanwhile. */
const countingShare = 0.5;
/** Memory is in question above these shares of V8's heap limit and of the cgroup's. */
const pressedHeapShare = 0.7;
const pressedGroupShare = 0.8;
/** V8 heap that a sample needs. */
const sampleBytes = 16 * 1024 ** 2;

const decided = new WeakMap<TriggerPart, MemoryPart['heapTier']>();

/** Decided once per death: two parts call this, and counting the objects frees garbage. */
export function decideHeapTier(config: Config, trigger: TriggerPart): MemoryPart['heapTier'] {
  const tier = decided.get(trigger) ?? decide(config, trigger);
  decided.set(trigger, tier);
  return tier;
}

function decide({ heap }: Config, trigger: TriggerPart): MemoryPart['heapTier'] {
  if (heap === 'off') return { wanted: heap, taken: 'statistics', reason: 'AGENTDUMP_HEAP is off' };
  const upper = estimateUpper();
  const quick = figuresOf(upper);
  if (heap === 'always') return { wanted: heap, taken: 'snapshot', reason: 'asked for', ...quick };
  // The program survives and is blocked while we write, or it has no memory to spare.
  if (trigger.kind === 'stall' || trigger.kind === 'snapshot-memory')
    return { wanted: heap, taken: 'statistics', reason: notPressed, ...quick };
  const isAsked = trigger.verdictKind === 'snapshot' || isMemoryPressed();
  if (!isAsked && heap === 'pressed')
    return { wanted: heap, taken: 'statistics', reason: notPressed, ...quick };
  if (!isAsked && !isCrash(trigger)) return { wanted: heap, taken: 'statistics', reason: noCrash, ...quick };
  const free = headroomBytes();
  const most: Cost = isAsked
    ? { bytes: free, ms: longestAskedMs }
    : { ...ofDeath, bytes: Math.min(ofDeath.bytes, free) };
  const objects = whyNot(upper, most) === undefined || !isAsked ? undefined : countWithin(most);
  const estimate = objects === undefined ? upper : refine(objects, most);
  const reason = whyNot(estimate, most);
  const taken = reason === undefined ? 'snapshot' : tierBelow(most, objects);
  const said = reason && !isAsked ? `${notPressed}, and ${reason}` : reason;
  return { wanted: heap, taken, reason: said ?? 'it fits', ...figuresOf(estimate) };
}

function tierBelow(most: Cost, objects: number | undefined): 'census' | 'sample' | 'statistics' {
  const { bytes, ms } = censusCost(objects);
  if (bytes <= most.bytes * countingShare && ms <= most.ms) return 'census';
  const { used_heap_size, heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  return used_heap_size + sampleBytes < heap_size_limit && sampleBytes < most.bytes ? 'sample' : 'statistics';
}

const figuresOf = ({ bytes, ms, highestBytes }: SnapshotEstimate) => ({
  estimatedBytes: bytes,
  estimatedMs: ms,
  highestBytes,
});

/** It did not end as intended, and no program that survives is blocked while we write. */
function isCrash({ verdictKind, handledByHost }: TriggerPart): boolean {
  return !handledByHost && !orderly.has(verdictKind);
}

const orderly = new Set(['exit', 'pending-exit', 'startup-failure', 'terminated']);

function whyNot({ bytes, ms, highestBytes }: SnapshotEstimate, most: Cost): string | undefined {
  if (ms > most.ms)
    return `a snapshot may take ${(ms / 1000).toFixed(1)} s, and ${most.ms / 1000} s is the most here`;
  if (highestBytes > most.bytes)
    return `a snapshot may need ${toMb(bytes > most.bytes ? bytes : highestBytes)} MB and ${toMb(most.bytes)} MB are left`;
  return undefined;
}

function countWithin(most: Cost): number | undefined {
  const { bytes, ms } = countingCost();
  return bytes <= most.bytes * countingShare && ms <= longestCountingMs ? countHeapObjects() : undefined;
}

/** The names only increase the estimate: they are worth the time if it would fit without them. */
function refine(objects: number, most: Cost): SnapshotEstimate {
  const isWorth = whyNot(estimateNamed(objects, noNames, 0), most) === undefined;
  const large = largeBytes();
  const names = isWorth && hasRoomForList(objects) ? countHeapNames() : undefined;
  return names ? estimateNamed(objects, names, large) : estimateCounted(objects);
}

const noNames = { numbers: 0, strings: 0, weakEntries: 0, boxedNumbers: 0, tableBytes: 0 };

/** The list is in V8's heap, which may be nearly full: 8 bytes per object, doubled to be safe. */
function hasRoomForList(objects: number): boolean {
  const { used_heap_size, heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  return used_heap_size + objects * 16 < heap_size_limit;
}

function isMemoryPressed(): boolean {
  const { used_heap_size, heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  const group = readGroupMemory();
  return (
    used_heap_size > heap_size_limit * pressedHeapShare ||
    group.some(({ max, used }) => used > max * pressedGroupShare)
  );
}

/** The minimum of what is left in the machine, the cgroup and the limits of the process. */
function headroomBytes(): number {
  const limited = [...readGroupMemory(), ...readOwnLimits()];
  return Math.min(platform.availableBytes(), ...limited.map(({ max, used }) => Math.max(0, max - used)));
}

/** RLIMIT_DATA and RLIMIT_AS; at these limits V8 can't allocate and aborts: proc(5), getrlimit(2). */
function readOwnLimits(): { max: number; used: number }[] {
  const limits = platform.limits('self');
  const status = platform.processFile('self', 'status') ?? '';
  const pairs = [
    ['Max data size', 'VmData'],
    ['Max address space', 'VmSize'],
  ] as const;
  return pairs.flatMap(([limit, field]) => {
    const max = Number(limits[limit]?.soft);
    const kilobytes = Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
    return Number.isFinite(max) && Number.isFinite(kilobytes) ? [{ max, used: kilobytes * 1024 }] : [];
  });
}

/** Of the cgroup and its parents; empty if there is no limit. */
function readGroupMemory(): { max: number; used: number }[] {
  const group = findMemoryCgroup();
  return group === undefined ? [] : readGroupLimits(group);
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
