/**
 * Reads the stacks of the worker threads of another process through its main thread's inspector. Each worker is paused, read
 * and resumed like the main thread. One that does not answer in time is a gap.
 */
import type { MemoryPart } from '../../bundle/layout/bundle.ts';
import type { WorkerStacksNote } from '../../bundle/layout/tests.ts';
import { oldSpaceOf } from '../../capture/heap/memory-sampler.ts';
import type { ScriptParsed } from '../../capture/host/inspector-session.ts';
import { roomForDebugger } from '../../capture/watchdog/memory/heap-room.ts';
import { ownThreadFlag } from '../../capture/watchdog/protocol.ts';
import { AgentdumpError } from '../../errors.ts';
import { openInspector } from './inspector-port.ts';
import { closeInspector } from './leave-inspector.ts';
import { askBareStack, evaluateText } from './live-facts.ts';
import { type MainThreadStack, readMainThreadStack } from './main-thread-stack.ts';
import { RemoteDebugger } from './remote-debugger.ts';
import { WorkerSession } from './worker-session.ts';

const mostWorkers = 64;
/** A busy worker pauses within milliseconds, or later on a busy machine. */
const busyPauseMs = 1_500;
/** Share of the watched time from which a worker counts as idle. */
const leastIdleShare = 0.1;

interface Attached {
  sessionId: string;
  workerInfo: { workerId: string; title: string; url: string };
}

/** A script of a worker, and its text as it runs. */
export interface WorkerScript extends ScriptParsed {
  text: string;
}

export interface WorkerLook {
  /**
   * Filled with the scripts of the program's own frames. V8's ids are those of one thread: here, and in the frames, the worker's id is
   * put before them (`2:288`).
   */
  scripts?: WorkerScript[];
  /**
   * Watch each worker for this long first. One that returns to its event loop meanwhile is reported as idle and is not
   * paused.
   */
  watchMs?: number;
}

/** The inspector is closed afterwards if it was closed before. Rejects if the main thread does not open it in time. */
export async function visitWorkers(pid: number, openMs: number, look: WorkerLook): Promise<WorkerStacksNote> {
  const door = await openInspector(pid, openMs);
  if (!door) throw new AgentdumpError('not-found', `process ${pid} did not open its inspector`, { pid });
  const remote = await RemoteDebugger.connect(door.webSocketUrl, openMs);
  try {
    return await readWorkerStacks(remote, look);
  } finally {
    await closeInspector(remote, door.openedByUs);
  }
}

/** Rejects if the main thread does not answer. */
export async function readWorkerStacks(
  remote: RemoteDebugger,
  look: WorkerLook = {},
): Promise<WorkerStacksNote> {
  const sessions = new Map<string, WorkerSession>();
  const attached: Attached[] = [];
  remote.on('NodeWorker.attachedToWorker', (event) => attached.push(event as unknown as Attached));
  remote.on('NodeWorker.receivedMessageFromWorker', ({ sessionId, message }) =>
    sessions.get(String(sessionId))?.take(String(message)),
  );
  await remote.send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const found: WorkerStacksNote = { workers: [], gaps: [] };
  try {
    const reading = attached.slice(0, mostWorkers).map((worker) => {
      const session = new WorkerSession(remote, worker.sessionId);
      sessions.set(worker.sessionId, session);
      return readWorker(worker, session, found, look);
    });
    await Promise.all(reading);
  } finally {
    await remote.send('NodeWorker.disable');
  }
  if (attached.length > mostWorkers)
    found.gaps.push(`${attached.length} worker threads; ${mostWorkers} were asked`);
  return found;
}

async function readWorker(
  { workerInfo }: Attached,
  session: WorkerSession,
  found: WorkerStacksNote,
  look: WorkerLook,
): Promise<void> {
  const { workerId, title, url } = workerInfo;
  try {
    const facts = JSON.parse(await evaluateText(session, question)) as WorkerFacts;
    if (facts.isOurs) return;
    if (look.watchMs !== undefined && !(await staysBusy(session, facts, look.watchMs))) {
      found.workers.push({ workerId, title, url, idle: true, frames: [] });
      return;
    }
    const hasRoom = hasRoomForDebugger(facts);
    const { frames, idle } = hasRoom ? await readStack(session, workerId, look) : await askBareStack(session);
    found.workers.push({ workerId, title, url, idle, frames });
    if (!hasRoom) found.gaps.push(`worker ${workerId}: ${noRoom}`);
  } catch (error) {
    found.gaps.push(`worker ${workerId}: ${error instanceof Error ? error.message : error}`);
  }
}

const noRoom = 'V8’s heap is near its limit, which a debugger would raise: the stack has no variables';

async function readStack(
  session: WorkerSession,
  workerId: string,
  { scripts, watchMs }: WorkerLook,
): Promise<MainThreadStack> {
  const parsed = new Map<string, ScriptParsed>();
  session.on('Debugger.scriptParsed', (event) => {
    const script = event as unknown as ScriptParsed;
    parsed.set(script.scriptId, script);
  });
  await session.send('Debugger.enable');
  const stack = await readMainThreadStack(
    session,
    (id) => parsed.get(id)?.url,
    watchMs === undefined ? undefined : busyPauseMs,
  );
  if (scripts) await readScripts(session, workerId, stack, parsed, scripts);
  await session.send('Debugger.disable');
  return stack;
}

async function readScripts(
  session: WorkerSession,
  workerId: string,
  { frames }: MainThreadStack,
  parsed: ReadonlyMap<string, ScriptParsed>,
  scripts: WorkerScript[],
): Promise<void> {
  const own = frames.filter(({ url }) => !url.startsWith('node:') && !url.includes('/node_modules/'));
  for (const scriptId of new Set(own.map((frame) => frame.scriptId))) {
    const script = parsed.get(scriptId);
    // Node 24 has no script for the code of an evaluated worker.
    const { scriptSource: text } = await session
      .send('Debugger.getScriptSource', { scriptId })
      .catch((): Record<string, unknown> => ({}));
    if (script && typeof text === 'string')
      scripts.push({ ...script, scriptId: `${workerId}:${scriptId}`, text });
  }
  for (const frame of frames) frame.scriptId = `${workerId}:${frame.scriptId}`;
}

/**
 * A worker whose promises starve its event loop counts as busy. One that waits inside a synchronous call does not answer, so
 * this rejects.
 */
async function staysBusy(session: WorkerSession, before: WorkerFacts, watchMs: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, watchMs));
  const after = JSON.parse(await evaluateText(session, question)) as WorkerFacts;
  return after.idleMs - before.idleMs < (after.nowMs - before.nowMs) * leastIdleShare;
}

interface WorkerFacts {
  /** Whether it is the preload's watchdog, which is not part of the program. */
  isOurs: boolean;
  limitBytes: number;
  youngBytes: number;
  spaces: MemoryPart['spaces'];
  /** Total idle time of the event loop, and the current time of the same clock. */
  idleMs: number;
  nowMs: number;
}

/** Runs in the worker: plain JavaScript for Node 20 and later. */
const question = `JSON.stringify((() => {
  const v8 = process.getBuiltinModule('node:v8');
  const { performance } = process.getBuiltinModule('node:perf_hooks');
  const { resourceLimits } = process.getBuiltinModule('node:worker_threads');
  return {
    isOurs: globalThis[Symbol.for(${JSON.stringify(ownThreadFlag.description)})] === true,
    limitBytes: v8.getHeapStatistics().heap_size_limit,
    youngBytes: resourceLimits.maxYoungGenerationSizeMb * 1024 ** 2,
    spaces: v8.getHeapSpaceStatistics(),
    idleMs: performance.eventLoopUtilization().idle,
    nowMs: performance.now(),
  };
})())`;

/** The limit that V8 reports in a worker is the sum of both generations, whether set by the program or by default. */
function hasRoomForDebugger({ limitBytes, youngBytes, spaces }: WorkerFacts): boolean {
  const { used, limit } = oldSpaceOf(limitBytes, spaces, limitBytes - youngBytes);
  return roomForDebugger(used, limit) > 0;
}
