/**
 * `agentdump capture`: writes a bundle of a running Node process that may have been started without the recorder. The process
 * continues afterwards, and an inspector that was closed before is closed again. A main thread in native code can't answer;
 * then the memory of the process is read directly if permitted, and gaps in the bundle say what is missing.
 */

import { freemem, totalmem } from 'node:os';
import { bundleSchemaVersion, partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { startBundle } from '../../bundle/write/writer.ts';
import { programName } from '../../capture/install/program-name.ts';
import { stackTextOf } from '../../capture/stacks/frame-reader.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import { freeze } from '../../platform/signals.ts';
import { version } from '../../version.ts';
import { viewDescriptors, viewProcess, viewThreads, viewVariables } from '../evidence/proc-view.ts';
import { writeLiveJournalPart } from '../finish/journal-part.ts';
import { viewChildren } from '../health/program.ts';
import type { HeapReader } from '../native/copied-heap.ts';
import { type CoreDigest, digestLiveCore, type LiveCorePart, writeCorePart } from '../native/core-part.ts';
import { nameOfCommand } from '../run/command-name.ts';
import { sealProven } from '../scrub/proven-scrubber.ts';
import { scrubReport } from '../scrub/scrub-report.ts';
import { ScrubbedParts } from '../scrub/scrubbed-parts.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { type Answers, type HeapTaker, interview } from './interview.ts';
import { type LiveHeap, takeLiveHeap } from './live-heap.ts';
import { runsNothing } from './main-thread-stack.ts';

/** Becomes part of the folder's name. Analysis may conclude otherwise. */
export type VerdictHint = 'snapshot' | 'event-loop-hang' | 'no-progress';

export interface CaptureOptions {
  pid: number;
  /** The dump folder. */
  dir: string;
  scrubber: Scrubber;
  /** `silence` when a supervisor captures a program that does not answer. */
  kind?: 'capture' | 'silence';
  verdictKind?: VerdictHint;
  reason?: string;
  /** Encrypts the bundle as an age file. */
  lock?: Lock;
  /** Reduces the memory of a process whose main thread does not answer. */
  digestCore?: CoreDigest;
  /** Read the memory even if the main thread answers. */
  core?: boolean;
  /** Path where the whole core is kept, unencrypted. Default: it is not kept. */
  keepCore?: string;
  /** Take a heap snapshot. */
  heap?: boolean;
  /** Reads the heap from a copy of the memory. Without it V8 writes the snapshot. */
  readHeap?: HeapReader;
  /** Read only the stacks of workers that stay busy for this long. Default: of all that are running at the moment. */
  watchWorkersMs?: number;
  /** Leave the process stopped (SIGSTOP), for a debugger. */
  stop?: boolean;
  /** Additional parts by name, from the caller; they are redacted like the others. */
  more?: Record<string, unknown>;
}

export interface Capture {
  path: string;
  /** How long the main thread was paused for its stack or for the list of its promises, measured here. */
  pausedMs: number;
  /** Whether the main thread answered at all. */
  answered: boolean;
  /** Why it could not be asked, if that is known. */
  unasked?: NonNullable<TriggerPart['unasked']>;
  how: 'inspector' | 'live-core' | 'kernel-view';
  /** How long the process was stopped while its memory was read. */
  corePausedMs?: number;
  /** Path of the whole core. */
  corePath?: string;
  /** What the heap was read from, how long the process was stopped for it, and why V8 had to write it. */
  heap?: { from: LiveHeap['from']; pausedMs: number; reason?: string };
}

/** Throws `not-found` if the process can't be reached, `unwritable` if the bundle can't be written. */
export async function captureLive(options: CaptureOptions): Promise<Capture> {
  const { pid, scrubber, readHeap, watchWorkersMs: watchMs } = options;
  const look = watchMs === undefined ? {} : { watchMs };
  const takeHeap: HeapTaker = (remote) => takeLiveHeap(pid, scrubber, readHeap, remote);
  const answers = await interview(pid, options.heap ? takeHeap : undefined, look);
  const answered = answers.facts !== undefined;
  const core = options.core || !answered ? await readCore(options, answers) : undefined;
  if (options.heap && !answered) await readHeapAlone(options, answers);
  const { heap } = answers;
  for (const reason of heap ? [...originGaps(heap), ...heap.gaps] : [])
    answers.gaps.push({ part: partNames.heapSnapshot, reason });
  const path = writeCapture(options, answers, core);
  if (options.stop) freeze(options.pid);
  return {
    path,
    pausedMs: (answers.stack?.pausedMs ?? 0) + answers.listingMs,
    answered,
    ...(answers.unasked && { unasked: answers.unasked }),
    how: answered ? 'inspector' : core ? 'live-core' : 'kernel-view',
    ...(core && { corePausedMs: core.pauseMs }),
    ...(core && options.keepCore !== undefined && { corePath: options.keepCore }),
    ...(heap && { heap: describeHeap(heap) }),
  };
}

function describeHeap({ from, pauseMs, reason }: LiveHeap): NonNullable<Capture['heap']> {
  return { from, pausedMs: pauseMs, ...(reason !== undefined && { reason }) };
}

/** The heap of a process that does not answer can still be read from its memory. */
async function readHeapAlone({ pid, scrubber, readHeap }: CaptureOptions, answers: Answers): Promise<void> {
  try {
    answers.heap = await takeLiveHeap(pid, scrubber, readHeap, undefined);
  } catch (error) {
    const reason = `the heap: ${error instanceof Error ? error.message : error}`;
    answers.gaps.push({ part: partNames.heapSnapshot, reason });
  }
}

const originGaps = ({ from, pauseMs }: LiveHeap): string[] =>
  from === 'v8'
    ? []
    : [
        `read out of a copy of the process's memory, for which it stood still for ${Math.round(pauseMs)} ms: as close to V8's own snapshot as is known of this Node, and without V8's ids`,
      ];

async function readCore(options: CaptureOptions, { gaps }: Answers): Promise<LiveCorePart | undefined> {
  const { pid, digestCore, scrubber, keepCore } = options;
  if (!digestCore) return undefined;
  try {
    const core = await digestLiveCore(pid, digestCore, scrubber, keepCore);
    for (const reason of core.gaps) gaps.push({ part: partNames.miniCore, reason });
    return core;
  } catch (error) {
    const reason = `its memory: ${error instanceof Error ? error.message : error}`;
    gaps.push({ part: partNames.miniCore, reason });
    return undefined;
  }
}

function writeCapture(options: CaptureOptions, answers: Answers, core: LiveCorePart | undefined): string {
  const { dir, pid, scrubber } = options;
  const seen = viewProcess(pid);
  const { facts } = answers;
  const variables = viewVariables(pid);
  const program = facts
    ? programName(facts.process.argv, variables)
    : nameOfCommand(seen.argv, seen.cwd, variables);
  const bundle = startBundle({
    dir,
    program,
    verdictKind: verdictKindOf(options),
    writer: version,
    ...(options.lock && { lock: options.lock }),
  });
  try {
    const parts = new ScrubbedParts(bundle, scrubber);
    parts.write(partNames.trigger, describeTrigger(bundle.id, program, options, answers, core));
    for (const [name, value] of Object.entries(options.more ?? {})) parts.write(name, value);
    writeLiveJournalPart(bundle, dir, pid);
    writeAnswers(parts, pid, answers, seen);
    if (core) writeCorePart(bundle, core, scrubber);
    for (const gap of answers.gaps) bundle.addGap(gap);
    return sealProven(bundle, scrubber);
  } catch (error) {
    bundle.discard();
    throw error;
  }
}

function verdictKindOf({ kind, verdictKind }: CaptureOptions): VerdictHint {
  return verdictKind ?? (kind === 'silence' ? 'event-loop-hang' : 'snapshot');
}

function describeTrigger(
  id: string,
  program: string,
  options: CaptureOptions,
  { at, stack, facts, unasked }: Answers,
  core: LiveCorePart | undefined,
): TriggerPart {
  return {
    id,
    schemaVersion: bundleSchemaVersion,
    kind: options.kind ?? 'capture',
    verdictKind: verdictKindOf(options),
    at: new Date(at).toISOString(),
    program,
    pid: options.pid,
    threadId: 0,
    isMainThread: true,
    nodeVersion: facts ? `v${facts.process.versions['node']}` : (core?.nodeVersion ?? 'unknown'),
    handledByHost: false,
    ...(options.reason !== undefined && { reason: options.reason }),
    ...(unasked && { unasked }),
    ...(stack && !runsNothing(stack) && { exitStack: stackTextOf(stack.frames) }),
  };
}

function writeAnswers(
  parts: ScrubbedParts,
  pid: number,
  answers: Answers,
  seen: ReturnType<typeof viewProcess>,
): void {
  const { stack, workers, facts, suspended, report, heap, scripts, sources } = answers;
  if (facts?.agent) parts.write(partNames.agent, { state: facts.agent, providers: {} });
  parts.writeProcess(pid, seen, answers);
  if (stack && runsNothing(stack)) {
    const where = stack.idle
      ? 'was idle, in its event loop'
      : 'ran no code of the program, only Node’s or the recorder’s';
    parts.bundle.addGap({ part: partNames.locals, reason: `the main thread ${where}` });
  }
  for (const reason of stack?.cut ?? []) parts.bundle.addGap({ part: partNames.locals, reason });
  if (stack?.frames.length) parts.write(partNames.locals, { frames: stack.frames });
  if (workers.length) parts.write(partNames.workerStacks, { workers });
  if (suspended) parts.write(partNames.suspended, suspended);
  if (scripts.length) parts.writeScripts(scripts, sources, answers);
  const heapTier = heap ? tierOf(heap) : noHeap;
  if (facts) parts.write(partNames.memory, { ...facts.memory, system: systemMemory(), heapTier });
  const handles = { resources: facts?.resources ?? {}, sockets: [], timers: [], children: viewChildren(pid) };
  parts.write(partNames.handles, { ...handles, ...viewDescriptors(pid) });
  if (platform.hasProcessFiles) parts.write(partNames.threads, { threads: viewThreads(pid) });
  else
    for (const part of [partNames.handles, partNames.threads])
      parts.bundle.addGap({ part, reason: notAvailable('what the system knows of another process') });
  const scrubbed = report === undefined ? undefined : scrubReport(JSON.parse(report), parts.clean);
  if (scrubbed) parts.writeText(partNames.report, scrubbed.text);
  if (heap) parts.writePieces(partNames.heapSnapshot, heap.members.take());
}

const noHeap = { wanted: 'off', taken: 'off', reason: 'captured from outside, without the heap' };

function tierOf({ from, pauseMs, reason }: LiveHeap) {
  const how = from === 'v8' ? 'written by V8' : 'read out of a copy of its memory';
  const why = reason === undefined ? '' : ` (not out of its memory: ${reason})`;
  const told = `asked for; ${how}, for which it stood still for ${Math.round(pauseMs)} ms${why}`;
  return { wanted: 'always', taken: 'snapshot', reason: told };
}

function systemMemory(): { totalBytes: number; availableBytes: number } {
  return { totalBytes: totalmem(), availableBytes: freemem() };
}
