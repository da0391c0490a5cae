/**
 * Collects what a running Node process can report through its inspector, most important first: its own figures, which cost it
 * next to nothing, then the stacks of its threads, the sources of their scripts, Node's report, and the heap. Whatever is not
 * available becomes a gap.
 */
import {
  partNames,
  type SuspendedPart,
  type TriggerPart,
  type WorkerStacksPart,
} from '../../bundle/layout/bundle.ts';
import type { ScriptParsed } from '../../capture/host/inspector-session.ts';
import { usualPort } from './inspector-door.ts';
import { isItsPortTaken, openInspector } from './inspector-port.ts';
import { closeInspector } from './leave-inspector.ts';
import { askBareStack, askLiveFacts, askReport, hasRoomForDebugger, type LiveFacts } from './live-facts.ts';
import type { LiveHeap } from './live-heap.ts';
import { askSuspended } from './live-suspended.ts';
import { type MainThreadStack, readMainThreadStack, runsNothing } from './main-thread-stack.ts';
import { RemoteDebugger } from './remote-debugger.ts';
import { readWorkerStacks, type WorkerLook, type WorkerScript } from './worker-stacks.ts';

export interface Answers {
  /** When the main thread gave its facts, or was asked for them in vain. Milliseconds since 1970. */
  at: number;
  /** Why the main thread could not be asked, whatever it was doing. */
  unasked?: TriggerPart['unasked'];
  stack?: MainThreadStack;
  workers: WorkerStacksPart['workers'];
  facts?: LiveFacts;
  /** Set if the main thread waits in its event loop. */
  suspended?: SuspendedPart;
  /** How long it took to list its promises, measured here. */
  listingMs: number;
  report?: string;
  heap?: LiveHeap;
  scripts: ScriptParsed[];
  /** Source texts by script id. */
  sources: Map<string, string>;
  gaps: { part: string; reason: string }[];
}

const mostWaitingScripts = 20;
const mostLooks = 3;
const betweenLooksMs = 20;

/** A main thread that runs JavaScript answers within milliseconds, even while it spins. */
const answerMs = 3000;

const noDoor =
  'the main thread did not open its inspector at SIGUSR1: it is in native code or a system call, has a handler of its own for SIGUSR1, or the port is taken';
const noPort = `the main thread was not asked: another process has the port of the inspector (${usualPort})`;

export type HeapTaker = (remote: RemoteDebugger) => Promise<LiveHeap>;

/** `takeHeap`: set if the heap is wanted. Throws `not-found` if the process can't be reached. */
export async function interview(pid: number, takeHeap?: HeapTaker, look: WorkerLook = {}): Promise<Answers> {
  const answers: Answers = {
    at: Date.now(),
    workers: [],
    listingMs: 0,
    scripts: [],
    sources: new Map(),
    gaps: [],
  };
  const door = await openInspector(pid);
  if (!door) {
    if (isItsPortTaken(pid)) answers.unasked = 'port-taken';
    answers.gaps.push({ part: partNames.locals, reason: answers.unasked ? noPort : noDoor });
    return answers;
  }
  const remote = await RemoteDebugger.connect(door.webSocketUrl, answerMs);
  try {
    await new Interview(remote, answers, look).run(takeHeap);
  } finally {
    await closeInspector(remote, door.openedByUs);
  }
  return answers;
}

class Interview {
  readonly #remote: RemoteDebugger;
  readonly #answers: Answers;
  readonly #look: WorkerLook;

  constructor(remote: RemoteDebugger, answers: Answers, look: WorkerLook) {
    this.#remote = remote;
    this.#answers = answers;
    this.#look = look;
  }

  async run(takeHeap: HeapTaker | undefined): Promise<void> {
    const answers = this.#answers;
    const facts = await this.#attempt(partNames.process, () => askLiveFacts(this.#remote));
    if (!facts) return;
    answers.at = Date.now();
    answers.facts = facts;
    if (hasRoomForDebugger(facts)) await this.#debug(facts);
    else await this.#attempt(partNames.locals, () => this.#readBareStack());
    const hasWorkers = await this.#attempt(partNames.workerStacks, () => this.#readWorkers());
    const report = await this.#attempt(partNames.report, () => this.#readReport(hasWorkers ?? true));
    if (report !== undefined) answers.report = report;
    if (!takeHeap) return;
    const heap = await this.#attempt(partNames.heapSnapshot, () => takeHeap(this.#remote));
    if (heap) answers.heap = heap;
  }

  async #debug(facts: LiveFacts): Promise<void> {
    const stack = await this.#attempt(partNames.locals, () => this.#readStack());
    if (!stack) return;
    this.#answers.stack = stack;
    if (runsNothing(stack)) await this.#attempt(partNames.suspended, () => this.#readSuspended(facts));
    await this.#attempt(partNames.scripts, () => this.#readSources(stack));
    await this.#attempt(partNames.scripts, () => this.#remote.send('Debugger.disable'));
  }

  async #readBareStack(): Promise<void> {
    this.#answers.stack = await askBareStack(this.#remote);
    throw new Error('V8’s heap is near its limit, which a debugger would raise: the stack has no variables');
  }

  async #attempt<T>(part: string, question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await question();
    } catch (error) {
      const reason = `the main thread: ${error instanceof Error ? error.message : error}`;
      this.#answers.gaps.push({ part, reason });
      return undefined;
    }
  }

  async #readStack(): Promise<MainThreadStack> {
    const { scripts } = this.#answers;
    this.#remote.on('Debugger.scriptParsed', (script) => scripts.push(script as unknown as ScriptParsed));
    await this.#enableDebugger();
    const urlOf = (id: string) => scripts.find((one) => one.scriptId === id)?.url;
    let stack = await readMainThreadStack(this.#remote, urlOf);
    // A program that never leaves its ticks may have been stopped between two of them.
    for (let looks = 1; looks < mostLooks && !stack.idle && runsNothing(stack); looks++) {
      await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
      stack = await readMainThreadStack(this.#remote, urlOf);
    }
    return stack;
  }

  async #readSuspended(facts: LiveFacts): Promise<void> {
    const from = performance.now();
    const { promises, left, stacks } = await askSuspended(this.#remote, facts).finally(() => {
      this.#answers.listingMs = performance.now() - from;
    });
    if (stacks.length > 0) this.#answers.suspended = { promises, stacks };
    const reason = `${promises} of ${promises + left} promises were looked at`;
    if (left > 0) this.#answers.gaps.push({ part: partNames.suspended, reason });
  }

  async #readSources({ frames, idle }: MainThreadStack): Promise<void> {
    const { scripts, suspended } = this.#answers;
    const own = frames.filter(({ url }) => !url.startsWith('node:')).map((frame) => frame.scriptId);
    const isWaiting = (url: string) => suspended?.stacks.some((stack) => stack.includes(`${url}:`));
    const waiting = scripts.filter(({ url }) => url !== '' && isWaiting(url));
    // The debugger was disabled for an idle thread, to cancel the pause.
    if (idle && waiting.length > 0) await this.#enableDebugger();
    const wanted = [...own, ...waiting.slice(0, mostWaitingScripts).map(({ scriptId }) => scriptId)];
    for (const scriptId of new Set(wanted)) {
      const { scriptSource } = await this.#remote.send('Debugger.getScriptSource', { scriptId });
      if (typeof scriptSource === 'string') this.#answers.sources.set(scriptId, scriptSource);
    }
  }

  /** Enabling it reports all scripts again. */
  async #enableDebugger(): Promise<void> {
    this.#answers.scripts.length = 0;
    await this.#remote.send('Debugger.enable');
  }

  async #readWorkers(): Promise<boolean> {
    const scripts: WorkerScript[] = [];
    const { workers, gaps } = await readWorkerStacks(this.#remote, { ...this.#look, scripts });
    this.#answers.workers = workers;
    for (const { text, ...script } of scripts) {
      this.#answers.scripts.push(script);
      this.#answers.sources.set(script.scriptId, text);
    }
    for (const reason of gaps) this.#answers.gaps.push({ part: partNames.workerStacks, reason });
    return workers.length + gaps.length > 0;
  }

  async #readReport(hasWorkers: boolean): Promise<string> {
    if (hasWorkers) throw new Error('Node’s report would wait for the worker threads; left out');
    return askReport(this.#remote);
  }
}
