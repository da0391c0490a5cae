/**
 * Looks at a main thread that stands still: interrupts it, reads stack and variables, lets it run for a moment and looks
 * again (which tells the loop from what it calls, and whether promises starve it), then has it write the bundle itself,
 * where everything that it knows is at hand: where it stands, or, if it came back meanwhile, in a turn of its loop. One
 * that lets nobody in, or not a second time, is described from here.
 */
import type { LocalsPart, StallFacts } from '../../bundle/layout.ts';
import { MainThread } from './main-thread.ts';
import { cells, hookExpression, type StallProbe, type StallReport, type WatchdogData } from './protocol.ts';
import type { SilentBundleFacts } from './watcher.ts';
import { writeSilentBundle } from './write-silent-bundle.ts';

const interruptMs = 1000;
const betweenLooksMs = 20;
const mostLooks = 8;
/** A function that has not returned by then is where it hangs. */
const returnMs = 150;
const mostSteps = 5;
/** The bundle's own limits are shorter. */
const reportMs = 30_000;
const probeMs = 1000;

export interface Stalled {
  data: WatchdogData;
  facts: SilentBundleFacts;
  stall: Omit<StallFacts, 'where'>;
  signal: NodeJS.Signals | undefined;
}

export interface SeenStall {
  bundle?: string;
  where: StallFacts['where'];
  /** To be written by a main thread that has come back. */
  unwritten?: StallReport;
}

/** Undefined when it is no stall: somebody debugs the program, or it came back before it could be stopped. */
export async function lookAtStall(stalled: Stalled): Promise<SeenStall | undefined> {
  const { shared, isInspected } = stalled.data;
  if (isInspected) return undefined;
  const answers = Atomics.load(shared, cells.answers);
  const hasAnswered = (): boolean => Atomics.load(shared, cells.answers) !== answers;
  const thread = new MainThread(shared);
  let unwritten: StallReport | undefined;
  try {
    const found = await thread.interrupt(interruptMs);
    if (found.state === 'debugged') return undefined;
    if (found.state === 'paused') {
      unwritten = await describe(thread, found.frames, stalled);
      const path = await evaluate(thread, `report(${JSON.stringify(unwritten)})`, reportMs);
      if (path !== undefined) return { where: 'javascript', ...bundleAt(path) };
    }
  } finally {
    thread.detach();
  }
  if (hasAnswered()) return unwritten && { where: 'javascript', unwritten };
  const { stall, frames } = unwritten ?? { stall: { ...stalled.stall, where: 'native' as const } };
  return { where: stall.where, ...bundleAt(writeHere(stalled, stall, frames)) };
}

/** Should it come to its end meanwhile, it waits a moment for us. */
function writeHere(
  stalled: Stalled,
  stall: StallFacts,
  frames: LocalsPart['frames'] | undefined,
): string | undefined {
  const { shared } = stalled.data;
  Atomics.store(shared, cells.attached, 1);
  try {
    return writeSilentBundle(stalled, stall, frames);
  } finally {
    Atomics.store(shared, cells.attached, 0);
  }
}

type CallFrames = Parameters<MainThread['readFrames']>[0];

async function describe(thread: MainThread, first: CallFrames, stalled: Stalled): Promise<StallReport> {
  const { shared } = stalled.data;
  const frames = await thread.readFrames(await untilProgram(thread, first));
  const microtasks = Atomics.load(shared, cells.microtasks);
  const probe = (await evaluate(thread, 'probe()', probeMs)) as StallProbe | undefined;
  const laterStacks = await lookAgain(thread);
  return {
    stall: {
      ...stalled.stall,
      where: 'javascript',
      microtasksRan: Atomics.load(shared, cells.microtasks) !== microtasks,
      ...(probe?.callback !== undefined && { callback: probe.callback }),
      laterStacks,
    },
    frames,
    ...(stalled.signal && { signal: stalled.signal }),
  };
}

/** Between two microtasks only Node's own frames are there: then it goes on to the next function. */
async function untilProgram(thread: MainThread, first: CallFrames): Promise<CallFrames> {
  let frames = first;
  for (let step = 0; step < mostSteps && !thread.isInProgram(frames); step++) {
    frames = (await thread.stepInto(returnMs)) ?? (await thread.pause(interruptMs)) ?? frames;
  }
  return frames;
}

function bundleAt(path: unknown): { bundle?: string } {
  return typeof path === 'string' ? { bundle: path } : {};
}

/**
 * Texts of some more stacks: one a moment later, then one each time that a function returns when it is asked to, so that
 * the innermost of the last is the one that does not. It is stopped again afterwards, unless it has come to its end.
 */
async function lookAgain(thread: MainThread): Promise<string[]> {
  const texts: string[] = [];
  await thread.resume(interruptMs);
  await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
  let frames = await thread.pause(interruptMs);
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
