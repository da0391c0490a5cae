/**
 * Looks at a main thread that is stalled: interrupts it, reads stack and variables, lets it run for a moment and looks again
 * (which distinguishes the loop from the functions that it calls, and shows whether promises starve it). Then makes the main
 * thread write the bundle itself, because all its data is available there: where it is stopped, or, if it recovered
 * meanwhile, in a turn of its loop. A thread that can't be interrupted, or not a second time, or whose heap is too full for a
 * debugger, is described from here.
 */
import type { StallFacts } from '../../bundle/layout/bundle.ts';
import { MainThread } from './main-thread.ts';
import { roomForDebugger } from './memory/heap-room.ts';
import { cells, hookExpression, type StallProbe, type StallReport } from './protocol.ts';
import { askWhileQueued } from './while-queued.ts';
import {
  type SeenFromHere,
  type SeenInPassing,
  type Stalled,
  writeSilentBundle,
} from './write-silent-bundle.ts';

const interruptMs = 1000;
/** If a death waits for it. */
const lastInterruptMs = 250;
const betweenLooksMs = 20;
const mostLooks = 8;
const looksInPassing = 3;
/** A function that has not returned within this time is the one that hangs. */
const returnMs = 150;
const mostSteps = 5;
/** The bundle's own limits are shorter. */
const reportMs = 30_000;

export interface SeenStall {
  bundle?: string;
  where: StallFacts['where'];
  /** To be written by a main thread that has recovered. */
  unwritten?: StallReport;
}

/** Undefined if it is not a stall: the program is being debugged, or it recovered before it could be stopped. */
export async function lookAtStall(stalled: Stalled): Promise<SeenStall | undefined> {
  const { shared, isInspected } = stalled.data;
  if (isInspected) return undefined;
  const answers = Atomics.load(shared, cells.answers);
  const thread = new MainThread(stalled.data);
  let seen: Awaited<ReturnType<typeof look>>;
  try {
    seen = await look(thread, stalled);
  } finally {
    thread.detach();
  }
  if (!seen || !('stall' in seen)) return seen;
  if (Atomics.load(shared, cells.answers) === answers)
    return {
      where: seen.stall.where,
      ...bundleAt(await stalled.unheld(() => writeHere(stalled, seen))),
    };
  return 'frames' in seen ? { where: 'javascript', unwritten: seen } : undefined;
}

async function look(thread: MainThread, stalled: Stalled): Promise<SeenStall | SeenFromHere | undefined> {
  const microtasks = Atomics.load(stalled.data.shared, cells.microtasks);
  const limitMs = stalled.isDeath ? lastInterruptMs : interruptMs;
  const answers = Atomics.load(stalled.data.shared, cells.answers);
  const { answer: probe, cpuMs } = stalled.isDeath
    ? { answer: await thread.probe(limitMs), cpuMs: undefined }
    : await askWhileQueued((ms) => thread.probe(ms), limitMs);
  // If the loop turns again, it handles the signal itself.
  if (stalled.isDeath && Atomics.load(stalled.data.shared, cells.answers) !== answers) return undefined;
  const native: SeenFromHere = {
    stall: {
      ...stalled.stall,
      where: 'native',
      ...(!probe && cpuMs !== undefined && { cpuWhileAskedMs: cpuMs }),
    },
  };
  if (!probe) return native;
  const asked: Asked = { thread, stalled, probe, microtasks };
  const room = roomForDebugger(probe.heapBytes, stalled.data.heapLimitBytes);
  const found = room > 0 ? await thread.interrupt(limitMs, room) : ({ state: 'growing' } as const);
  if (found.state === 'debugged') return undefined;
  if (found.state === 'native') return native;
  if (found.state === 'growing') return describeInPassing(asked);
  const frames = await untilProgram(thread, found.frames);
  const hasTurned =
    Atomics.load(stalled.data.shared, cells.answers) !== answers || thread.isAnswering(frames);
  if (hasTurned && !stalled.isDeath) return undefined;
  const seen = await describe(asked, frames);
  // The capture needs such modules too. If this is where the thread hangs, the bundle is written from here.
  for (let look = 0; look < mostLooks && thread.isLoadingModule; look++) await goOn(thread);
  if (thread.isLoadingModule) return seen;
  const path = await evaluate(thread, `report(${JSON.stringify(seen)})`, reportMs);
  return path === undefined ? seen : { where: 'javascript', ...bundleAt(path) };
}

/** If the main thread reaches its end meanwhile, it waits a moment for this. */
function writeHere(stalled: Stalled, seen: SeenFromHere): string | undefined {
  const { shared } = stalled.data;
  Atomics.store(shared, cells.attached, 1);
  try {
    return writeSilentBundle(stalled, seen);
  } finally {
    Atomics.store(shared, cells.attached, 0);
  }
}

type CallFrames = Parameters<MainThread['readFrames']>[0];

interface Asked {
  thread: MainThread;
  stalled: Stalled;
  /** Its first answer, and the number of microtasks that had been counted before. */
  probe: StallProbe;
  microtasks: number;
}

/** @param stopped where it is stopped. */
async function describe(asked: Asked, stopped: CallFrames): Promise<StallReport> {
  const { thread, stalled } = asked;
  const frames = await thread.readFrames(stopped);
  const { signal, isDeath } = stalled;
  const laterStacks = isDeath ? [] : await lookAgain(thread);
  return { stall: stallOf(asked, laterStacks), frames, ...(signal && { signal }) };
}

async function describeInPassing(asked: Asked): Promise<SeenInPassing> {
  const { thread, probe } = asked;
  const laterStacks: string[] = [];
  const looks = asked.stalled.isDeath ? 0 : looksInPassing;
  for (let look = 2; look < 2 + looks; look++) {
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
    const later = await thread.probe(returnMs);
    if (!later) break;
    laterStacks.push(`Main thread, look ${look}\n${later.stackText}`);
  }
  return { stall: stallOf(asked, laterStacks), stackText: `Main thread\n${probe.stackText}` };
}

function stallOf({ stalled, probe, microtasks }: Asked, laterStacks: string[]): StallFacts {
  return {
    ...stalled.stall,
    where: 'javascript',
    microtasksRan: Atomics.load(stalled.data.shared, cells.microtasks) !== microtasks,
    ...(probe.callback !== undefined && { callback: probe.callback }),
    laterStacks,
  };
}

/** Between two microtasks there are only frames of Node: then it continues to the next function, or for a moment. */
async function untilProgram(thread: MainThread, first: CallFrames): Promise<CallFrames> {
  let frames = first;
  for (let look = 0; look < mostLooks && !thread.isInProgram(frames); look++) {
    if (look > 0) frames = (await goOn(thread)) ?? frames;
    for (let step = 0; step < mostSteps && !thread.isInProgram(frames); step++) {
      frames = (await thread.stepInto(returnMs)) ?? (await thread.pause(interruptMs)) ?? frames;
    }
  }
  return frames;
}

/** Resumes it for a moment, and stops it again if possible. */
async function goOn(thread: MainThread): Promise<CallFrames | undefined> {
  await thread.resume(interruptMs);
  await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  return thread.pause(interruptMs);
}

function bundleAt(path: unknown): { bundle?: string } {
  return typeof path === 'string' ? { bundle: path } : {};
}

/**
 * Texts of further stacks: one a moment later, then one each time that a function returns when asked to step out, so that the
 * innermost function of the last stack is the one that does not return. The thread is stopped again afterwards, unless it has
 * reached its end.
 */
async function lookAgain(thread: MainThread): Promise<string[]> {
  const texts: string[] = [];
  let frames = await goOn(thread);
  while (frames && thread.isInProgram(frames) && texts.length < mostLooks) {
    texts.push(thread.stackText(frames, `Main thread, look ${texts.length + 2}`));
    frames = await thread.stepOut(frames, returnMs);
  }
  if (!thread.isPaused) await thread.pause(interruptMs);
  return texts;
}

async function evaluate(thread: MainThread, call: string, limitMs: number): Promise<unknown> {
  const text = await thread.evaluate(`JSON.stringify(${hookExpression}.${call} ?? null)`, limitMs);
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}
