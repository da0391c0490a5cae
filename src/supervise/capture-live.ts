/**
 * `agentdump capture`: a bundle of a running Node process with nothing of ours in it. It goes on afterwards, and the
 * inspector is closed again if it was closed before. A main thread that sits in native code can't answer; then the
 * bundle says so, with what the kernel sees.
 */

import { freemem, totalmem } from 'node:os';
import type { Lock } from '../bundle/age-key.ts';
import { bundleSchemaVersion, type LoadedScript, partNames, type TriggerPart } from '../bundle/layout.ts';
import { type BundleWriter, startBundle } from '../bundle/writer.ts';
import type { ScriptParsed } from '../capture/inspector-session.ts';
import { findPackages } from '../capture/parts/packages.ts';
import { describeScripts, type ScriptsContext } from '../capture/parts/scripts.ts';
import { programName } from '../capture/program-name.ts';
import { redactSourceMap } from '../capture/redact-source-map.ts';
import { version } from '../version.ts';
import { preloadFile } from './arm.ts';
import { openInspector } from './inspector-port.ts';
import { askLiveFacts, askReport, countWorkers, type LiveFacts } from './live-facts.ts';
import { type MainThreadStack, readMainThreadStack, stackTextOf } from './main-thread-stack.ts';
import { viewDescriptors, viewProcess, viewThreads } from './proc-view.ts';
import { RemoteDebugger } from './remote-debugger.ts';
import { scrubReport } from './scrub-report.ts';
import type { Scrubber } from './scrubber.ts';

export interface CaptureOptions {
  pid: number;
  /** The dump folder. */
  dir: string;
  scrubber: Scrubber;
  /** `silence` when a supervisor captures a program that does not answer. */
  kind?: 'capture' | 'silence';
  reason?: string;
  /** With it the bundle is an age file. */
  lock?: Lock;
}

export interface Capture {
  path: string;
  /** How long the main thread stood still for its stack; 0 when it was idle. */
  pausedMs: number;
  /** Whether the main thread answered at all. */
  answered: boolean;
}

/** What was learnt from the process itself. */
interface Answers {
  stack?: MainThreadStack;
  facts?: LiveFacts;
  report?: string;
  scripts: ScriptParsed[];
  sources: Map<string, string>;
  gaps: { part: string; reason: string }[];
}

/** A main thread that runs JavaScript answers within milliseconds, also while it spins. */
const answerMs = 3000;

/** Throws `not-found` when the process can't be reached, `unwritable` when the bundle can't be written. */
export async function captureLive(options: CaptureOptions): Promise<Capture> {
  const answers = await ask(options.pid);
  const path = writeCapture(options, answers);
  return { path, pausedMs: answers.stack?.pausedMs ?? 0, answered: answers.facts !== undefined };
}

async function ask(pid: number): Promise<Answers> {
  const door = await openInspector(pid);
  if (!door) return { scripts: [], sources: new Map(), gaps: [{ part: partNames.locals, reason: noDoor }] };
  const remote = await RemoteDebugger.connect(door.webSocketUrl, answerMs);
  try {
    return await interview(remote);
  } finally {
    await leave(remote, door.openedByUs);
  }
}

const noDoor =
  'the main thread did not open its inspector at SIGUSR1: it sits in native code or a system call, has a handler of its own for SIGUSR1, or the port is taken';

/** Everything that can be had, in the order of its value; what can't is a gap. */
async function interview(remote: RemoteDebugger): Promise<Answers> {
  const answers: Answers = { scripts: [], sources: new Map(), gaps: [] };
  const attempt = async <T>(part: string, question: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await question();
    } catch (error) {
      answers.gaps.push({
        part,
        reason: `the main thread: ${error instanceof Error ? error.message : error}`,
      });
      return undefined;
    }
  };
  remote.on('Debugger.scriptParsed', (script) => answers.scripts.push(script as unknown as ScriptParsed));
  const stack = await attempt(partNames.locals, async () => {
    await remote.send('Debugger.enable');
    return readMainThreadStack(remote, (id) => answers.scripts.find((one) => one.scriptId === id)?.url);
  });
  if (!stack) return answers;
  answers.stack = stack;
  await attempt(partNames.scripts, () => readSources(remote, stack, answers.sources));
  await attempt(partNames.scripts, () => remote.send('Debugger.disable'));
  const facts = await attempt(partNames.process, () => askLiveFacts(remote));
  if (facts) answers.facts = facts;
  const report = await attempt(partNames.report, () => askReportUnlessWorkers(remote));
  if (report !== undefined) answers.report = report;
  return answers;
}

async function askReportUnlessWorkers(remote: RemoteDebugger): Promise<string> {
  const workers = await countWorkers(remote);
  if (workers > 0) throw new Error(`Node's report would wait for ${workers} worker threads; left out`);
  return askReport(remote);
}

async function readSources(
  remote: RemoteDebugger,
  stack: MainThreadStack,
  sources: Map<string, string>,
): Promise<void> {
  const ids = new Set(
    stack.frames.filter(({ url }) => !url.startsWith('node:')).map(({ scriptId }) => scriptId),
  );
  for (const scriptId of ids) {
    const { scriptSource } = await remote.send('Debugger.getScriptSource', { scriptId });
    if (typeof scriptSource === 'string') sources.set(scriptId, scriptSource);
  }
}

/** Closing the inspector from within cuts the connection that asks for it: that is its answer. */
async function leave(remote: RemoteDebugger, openedByUs: boolean): Promise<void> {
  if (openedByUs) {
    const expression = "require('node:inspector').close()";
    await remote.send('Runtime.evaluate', { expression, includeCommandLineAPI: true }).catch(() => {});
  }
  remote.close();
  await Promise.race([remote.closed, new Promise((done) => setTimeout(done, 500).unref())]);
}

function writeCapture(options: CaptureOptions, answers: Answers): string {
  const seen = viewProcess(options.pid);
  const program = programName(answers.facts?.process.argv ?? seen.argv);
  const bundle = startBundle({
    dir: options.dir,
    program,
    verdictKind: verdictKindOf(options),
    writer: version,
    ...(options.lock && { lock: options.lock }),
  });
  try {
    const parts = new ScrubbedParts(bundle, options.scrubber);
    parts.write(partNames.trigger, describeTrigger(bundle.id, program, options, answers));
    writeAnswers(parts, options.pid, answers, seen);
    for (const gap of answers.gaps) bundle.addGap(gap);
    return bundle.seal();
  } catch (error) {
    bundle.discard();
    throw error;
  }
}

function verdictKindOf({ kind }: CaptureOptions): string {
  return kind === 'silence' ? 'event-loop-hang' : 'snapshot';
}

function describeTrigger(
  id: string,
  program: string,
  options: CaptureOptions,
  { stack, facts }: Answers,
): TriggerPart {
  return {
    id,
    schemaVersion: bundleSchemaVersion,
    kind: options.kind ?? 'capture',
    verdictKind: verdictKindOf(options),
    at: new Date().toISOString(),
    program,
    pid: options.pid,
    threadId: 0,
    isMainThread: true,
    nodeVersion: facts ? `v${facts.process.versions['node']}` : 'unknown',
    handledByHost: false,
    ...(options.reason !== undefined && { reason: options.reason }),
    ...(stack && !stack.idle && { exitStack: stackTextOf(stack.frames) }),
  };
}

function writeAnswers(
  parts: ScrubbedParts,
  pid: number,
  { stack, facts, report, scripts, sources }: Answers,
  seen: ReturnType<typeof viewProcess>,
): void {
  if (facts?.agent) parts.write(partNames.agent, { state: facts.agent, providers: {} });
  parts.writeProcess(pid, seen, facts);
  if (stack?.idle)
    parts.bundle.addGap({ part: partNames.locals, reason: 'the main thread was idle, in its event loop' });
  for (const reason of stack?.cut ?? []) parts.bundle.addGap({ part: partNames.locals, reason });
  if (stack?.frames.length) parts.write(partNames.locals, { frames: stack.frames });
  if (scripts.length) parts.writeScripts(scripts, sources, stack);
  if (facts) parts.write(partNames.memory, { ...facts.memory, system: systemMemory(), heapTier: noHeap });
  const handles = { resources: facts?.resources ?? {}, sockets: [], timers: [], children: [] };
  parts.write(partNames.handles, { ...handles, ...viewDescriptors(pid) });
  parts.write(partNames.threads, { threads: viewThreads(pid) });
  const scrubbed = report === undefined ? undefined : scrubReport(JSON.parse(report), parts.clean);
  if (scrubbed) parts.writeText(partNames.report, scrubbed.text);
}

const noHeap = { wanted: 'off', taken: 'off', reason: 'captured from outside, without the heap' };

function systemMemory(): { totalBytes: number; availableBytes: number } {
  return { totalBytes: totalmem(), availableBytes: freemem() };
}

/** Writes parts that have been through the redactor, and counts what it withheld. */
class ScrubbedParts {
  readonly bundle: BundleWriter;
  readonly #scrubber: Scrubber;

  constructor(bundle: BundleWriter, scrubber: Scrubber) {
    this.bundle = bundle;
    this.#scrubber = scrubber;
  }

  readonly clean = (text: string): string => this.#scrubber.text(text);

  write(name: string, value: unknown): void {
    this.writeText(name, JSON.stringify(this.#scrubber.value(value)));
  }

  /** The text is clean already. */
  writeText(name: string, text: string): boolean {
    const written = this.bundle.writePart(name, text);
    this.bundle.countRedactions(name, this.#scrubber.counts());
    this.#scrubber.resetCounts();
    return written;
  }

  writeProcess(pid: number, seen: ReturnType<typeof viewProcess>, facts: LiveFacts | undefined): void {
    const argv = this.#scrubber.argv(facts?.process.argv ?? seen.argv);
    const startedAt = facts && new Date(Date.now() - facts.process.uptimeMs).toISOString();
    this.write(partNames.process, {
      pid,
      ...seen,
      ...facts?.process,
      argv,
      threadId: 0,
      ...(startedAt && { startedAt }),
    });
  }

  writeScripts(
    scripts: ScriptParsed[],
    sources: Map<string, string>,
    stack: MainThreadStack | undefined,
  ): void {
    const context: ScriptsContext = {
      ownFile: preloadFile,
      stackTexts: [],
      frameUrls: new Set(stack?.frames.map((frame) => frame.url)),
      scriptUrls: [],
      writeCode: (name, text) => this.writeText(name, this.#scrubber.code(text)),
      writeSourceMap: (name, text) => this.writeText(name, redactSourceMap(text, this.#scrubber)),
    };
    const self = { scripts, sourceOf: (id: string) => sources.get(id), close: () => {} };
    const described: LoadedScript[] = describeScripts(self, context);
    this.write(partNames.scripts, { scripts: described });
    const addGap = (part: string, reason: string) => this.bundle.addGap({ part, reason });
    this.write(partNames.packages, { packages: findPackages({ scriptUrls: context.scriptUrls, addGap }) });
  }
}
