/**
 * Where the worker threads of another process are, asked for through its main thread's inspector. Each is paused, read
 * and let go like the main thread; one that does not answer in time is a gap.
 */
import type { WorkerStacksPart } from '../bundle/layout.ts';
import { ownThreadFlag } from '../capture/watchdog/protocol.ts';
import { type MainThreadStack, readMainThreadStack } from './main-thread-stack.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

type Parameters = Record<string, unknown>;
type WorkerStack = WorkerStacksPart['workers'][number];

export interface WorkerStacks {
  workers: WorkerStack[];
  gaps: string[];
}

const answerMs = 1500;
const mostWorkers = 64;

interface Attached {
  sessionId: string;
  workerInfo: { workerId: string; title: string; url: string };
}

/** Rejects when the main thread does not answer. */
export async function readWorkerStacks(remote: RemoteDebugger): Promise<WorkerStacks> {
  const sessions = new Map<string, WorkerSession>();
  const attached: Attached[] = [];
  remote.on('NodeWorker.attachedToWorker', (event) => attached.push(event as unknown as Attached));
  remote.on('NodeWorker.receivedMessageFromWorker', ({ sessionId, message }) =>
    sessions.get(String(sessionId))?.take(String(message)),
  );
  await remote.send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const found: WorkerStacks = { workers: [], gaps: [] };
  try {
    const reading = attached.slice(0, mostWorkers).map((worker) => {
      const session = new WorkerSession(remote, worker.sessionId);
      sessions.set(worker.sessionId, session);
      return readWorker(worker, session, found);
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
  found: WorkerStacks,
): Promise<void> {
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ scriptId, url }) => urls.set(String(scriptId), String(url)));
  try {
    if (await isOurs(session)) return;
    await session.send('Debugger.enable');
    const stack: MainThreadStack = await readMainThreadStack(session, (id) => urls.get(id));
    await session.send('Debugger.disable');
    const { frames, idle } = stack;
    const { workerId, title, url } = workerInfo;
    found.workers.push({ workerId, title, url, idle, frames });
  } catch (error) {
    found.gaps.push(`worker ${workerInfo.workerId}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The preload's watchdog is no thread of the program. */
async function isOurs(session: WorkerSession): Promise<boolean> {
  const expression = `globalThis[Symbol.for(${JSON.stringify(ownThreadFlag.description)})] === true`;
  const answer = await session.send('Runtime.evaluate', { expression, returnByValue: true });
  return (answer['result'] as { value?: unknown } | undefined)?.value === true;
}

/** Commands to one worker, wrapped into messages to the main thread. */
class WorkerSession {
  readonly #remote: RemoteDebugger;
  readonly #sessionId: string;
  readonly #listeners = new Map<string, (parameters: Parameters) => void>();
  readonly #waiting = new Map<
    number,
    (answer: { result?: Parameters; error?: { message?: string } }) => void
  >();
  #lastId = 0;

  constructor(remote: RemoteDebugger, sessionId: string) {
    this.#remote = remote;
    this.#sessionId = sessionId;
  }

  on(event: string, listener: (parameters: Parameters) => void): void {
    this.#listeners.set(event, listener);
  }

  async send(method: string, params: Parameters = {}): Promise<Parameters> {
    const id = ++this.#lastId;
    const answered = new Promise<Parameters>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer to ${method} within ${answerMs} ms`));
      }, answerMs);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        if (error) reject(new Error(error.message ?? 'refused'));
        else resolve(result ?? {});
      });
    });
    const message = JSON.stringify({ id, method, params });
    const [answer] = await Promise.all([
      answered,
      this.#remote.send('NodeWorker.sendMessageToWorker', { sessionId: this.#sessionId, message }),
    ]);
    return answer;
  }

  take(text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string; params?: Parameters };
    if (message.method !== undefined) this.#listeners.get(message.method)?.(message.params ?? {});
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.id !== undefined) this.#waiting.delete(message.id);
    waiting?.(message as Parameters);
  }
}
