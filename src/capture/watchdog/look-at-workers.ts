/**
 * Which code worker threads run when a signal ends the process. The main thread, which writes the bundle, can't interrupt them: Node's
 * inspector can, whose messages the main thread passes on while its loop turns. So they are looked at before it is told of the signal.
 */
import type { Debugger, Session } from 'node:inspector';
import { platform } from '../../platform/index.ts';
import type { ScriptParsed } from '../host/inspector-session.ts';
import { isReady, readQueuedMs } from './main-cpu.ts';
import { cells, type SeenWorkers } from './protocol.ts';

/** Without the time for which a busy machine gave one of the threads no processor. */
const lookMs = 100;
const longestMs = 1000;
/** For other workers, after one was read: idle ones do not stop. */
const moreMs = 30;
const pollMs = 10;
const mostWorkers = 16;
const mostFrames = 40;
const mostScripts = 3;
const longestText = 1024 ** 2;

/** Undefined if there are no workers, or no other thread runs: idle ones are not looked at. */
export function lookAtWorkers(shared: Int32Array): Promise<SeenWorkers | undefined> | undefined {
  if (Atomics.load(shared, cells.workers) === 0) return undefined;
  const own = Atomics.load(shared, cells.threadId);
  const running = platform
    .processFolder('self', 'task')
    .map(Number)
    .filter((tid) => tid !== own && tid !== process.pid && isReady(tid));
  if (running.length === 0) return undefined;
  return new WorkersLook(shared, [own, process.pid, ...running]).result.catch(() => undefined);
}

interface Attached {
  sessionId: string;
  workerInfo: { workerId: string; title: string; url: string };
}

class WorkersLook {
  readonly result: Promise<SeenWorkers | undefined>;
  readonly #shared: Int32Array;
  readonly #session: Session;
  readonly #workers = new Map<string, PausedWorker>();
  #end = (_seen: SeenWorkers | undefined): void => {};
  readonly #since = performance.now();
  readonly #threads: readonly number[];
  readonly #waited: number[];
  #untilMs = lookMs;
  #poll: NodeJS.Timeout | undefined;

  /** `threads`: the system's ids of those that take part. */
  constructor(shared: Int32Array, threads: readonly number[]) {
    this.#shared = shared;
    this.#threads = threads.slice(0, mostWorkers);
    this.#waited = this.#readWaits();
    const { Session } = process.getBuiltinModule('node:inspector');
    this.#session = new Session();
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#connect();
  }

  #connect(): void {
    // In this order: the main thread sets `closing` and then waits for `attached` to be 0.
    Atomics.store(this.#shared, cells.attached, 1);
    this.#poll = setInterval(() => {
      const isLate = this.#fairMs() >= this.#untilMs || performance.now() - this.#since >= longestMs;
      if (isLate || Atomics.load(this.#shared, cells.closing) !== 0) this.#finish();
    }, pollMs);
    this.#session.connectToMainThread();
    const listen = this.#session.on.bind(this.#session) as (
      event: string,
      listener: (message: { params: never }) => void,
    ) => void;
    listen('NodeWorker.attachedToWorker', ({ params }) => this.#attach(params));
    listen('NodeWorker.receivedMessageFromWorker', ({ params }) => this.#hear(params));
    this.#post('NodeWorker.enable', { waitForDebuggerOnStart: false }, () => {
      if (this.#workers.size === 0) this.#finish();
    });
  }

  #fairMs(): number {
    // They work one after the other.
    const waits = this.#readWaits().map((ms, at) => ms - (this.#waited[at] ?? 0));
    return performance.now() - this.#since - waits.reduce((sum, ms) => sum + ms, 0);
  }

  #readWaits(): number[] {
    return this.#threads.map((tid) => readQueuedMs(tid) ?? 0);
  }

  #post(method: string, params: object, then = (): void => {}): void {
    const post = this.#session.post.bind(this.#session) as (
      method: string,
      params: object,
      done: () => void,
    ) => void;
    post(method, params, then);
  }

  #attach({ sessionId, workerInfo }: Attached): void {
    if (workerInfo.title.includes(ownTitle) || this.#workers.size >= mostWorkers) return;
    const send = (message: string): void =>
      this.#post('NodeWorker.sendMessageToWorker', { sessionId, message });
    this.#workers.set(sessionId, new PausedWorker(workerInfo, send));
  }

  #hear({ sessionId, message }: { sessionId: string; message: string }): void {
    this.#workers.get(sessionId)?.hear(JSON.parse(message) as Message);
    const workers = [...this.#workers.values()];
    if (workers.every(({ isRead }) => isRead)) this.#finish();
    else if (workers.some(({ isRead }) => isRead))
      this.#untilMs = Math.min(this.#untilMs, this.#fairMs() + moreMs);
  }

  /** Resumes those that were stopped. */
  #finish(): void {
    if (!this.#poll) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
    this.#session.disconnect();
    Atomics.store(this.#shared, cells.attached, 0);
    const stopped = [...this.#workers.values()].flatMap((worker) => worker.seen ?? []);
    const workers = stopped.map(({ worker }) => worker);
    this.#end(workers.length ? { workers, scripts: stopped.flatMap(({ scripts }) => scripts) } : undefined);
  }
}

/** The name of this thread (hidden-worker.ts). */
const ownTitle = 'agentdump watchdog';

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: { scriptSource?: unknown };
}

class PausedWorker {
  readonly #info: Attached['workerInfo'];
  readonly #send: (message: string) => void;
  readonly #parsed = new Map<string, ScriptParsed>();
  /** By the id of the question. */
  readonly #asked = new Map<number, string>();
  readonly #texts = new Map<string, string>();
  #frames: Debugger.CallFrame[] | undefined;
  #lastId = 0;

  constructor(info: Attached['workerInfo'], send: (message: string) => void) {
    this.#info = info;
    this.#send = send;
    this.#ask('Debugger.enable');
    this.#ask('Debugger.pause');
  }

  get isRead(): boolean {
    return this.#frames !== undefined && this.#asked.size === 0;
  }

  hear({ id, method, params, result }: Message): void {
    if (method === 'Debugger.scriptParsed') {
      const script = params as ScriptParsed;
      this.#parsed.set(script.scriptId, script);
    } else if (method === 'Debugger.paused' && !this.#frames)
      this.#pausedAt(params as Debugger.PausedEventDataType);
    const asked = id === undefined ? undefined : this.#asked.get(id);
    if (id === undefined || asked === undefined) return;
    this.#asked.delete(id);
    const text = result?.scriptSource;
    if (typeof text === 'string' && text.length <= longestText) this.#texts.set(asked, text);
  }

  /** Undefined if it has not stopped: it is idle, or in native code. */
  get seen(): { worker: SeenWorkers['workers'][number]; scripts: SeenWorkers['scripts'] } | undefined {
    if (!this.#frames) return undefined;
    const { title: told, url } = this.#info;
    // The id of the protocol is another one.
    const [, workerId = this.#info.workerId, title = ''] = /^\[worker (\d+)\] ?(.*)$/.exec(told) ?? [];
    const idOf = (scriptId: string): string => `${workerId}:${scriptId}`;
    const frames = this.#frames.map(({ functionName, location, url: own }) => ({
      functionName,
      scriptId: idOf(location.scriptId),
      url: own || (this.#parsed.get(location.scriptId)?.url ?? ''),
      line: location.lineNumber + 1,
      column: (location.columnNumber ?? 0) + 1,
      scopes: [],
    }));
    const scripts = [...this.#texts].flatMap(([id, text]) => {
      const script = this.#parsed.get(id);
      return script ? [{ ...script, scriptId: idOf(id), text }] : [];
    });
    const name = title === 'WorkerThread' ? '' : title;
    return { worker: { workerId, title: name, url, idle: false, frames }, scripts };
  }

  #pausedAt({ callFrames, reason }: Debugger.PausedEventDataType): void {
    // V8 has just raised the limit of its heap.
    if ((reason as string) === 'OOM') {
      this.#ask('Debugger.resume');
      return;
    }
    this.#frames = callFrames.slice(0, mostFrames);
    const own = this.#frames
      .map(({ location }) => location.scriptId)
      .filter((id) => isOfProgram(this.#parsed.get(id)?.url));
    for (const scriptId of [...new Set(own)].slice(0, mostScripts)) {
      this.#asked.set(this.#lastId + 1, scriptId);
      this.#ask('Debugger.getScriptSource', { scriptId });
    }
  }

  #ask(method: string, params: object = {}): void {
    this.#send(JSON.stringify({ id: ++this.#lastId, method, params }));
  }
}

const isOfProgram = (url: string | undefined): boolean =>
  url !== undefined && url !== '' && !url.startsWith('node:') && !url.includes('/node_modules/');
