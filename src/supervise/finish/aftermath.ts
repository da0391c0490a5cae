/**
 * What the supervisor does when its program has ended badly; imported only then. Finds the bundle that the program wrote
 * about its own death, or has one written, and cleans up.
 */
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { type ListedBundle, listBundles } from '../../bundle/finished/list.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import type { CoreEvidence, EvidencePart } from '../../bundle/layout/evidence.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { programWord, readBundleName } from '../../bundle/write/bundle-name.ts';
import { classifySession, listSessions, readSession } from '../../journal/read/session.ts';
import { platform } from '../../platform/index.ts';
import type { Witness } from '../evidence/evidence.ts';
import { lockOf } from '../evidence/lock.ts';
import { findCore } from '../native/core-file.ts';
import { type CoreDigest, type CorePart, digestCoreFile } from '../native/core-part.ts';
import { takeCore } from '../native/expected-core.ts';
import type { FullHeap, FullHeapOptions } from '../native/full-heap.ts';
import type { HeldDeath } from '../native/hold.ts';
import type { RunningChild } from '../run/child.ts';
import { isUnexplained, leavesCore } from '../run/exit-status.ts';
import type { ChildExit } from '../run/restart-policy.ts';
import { makeScrubber, type Scrubber } from '../scrub/scrubber.ts';
import { clearSession } from './clear-session.ts';
import { awaitHeap, type DeadHeap, readHeapOfCore } from './dead-heap.ts';
import { finishSession } from './finisher.ts';
import { tryLockSession, unlockSession } from './finisher-lock.ts';
import { noteHandlersEnd } from './own-bundles.ts';
import { sweepSessions } from './sweep.ts';

export interface BadEnd {
  dir: string;
  command: readonly string[];
  child: RunningChild;
  exit: NonNullable<EvidencePart['exit']>;
  signalsSent: NonNullable<EvidencePart['signalsSent']>;
  /** Keep the kernel's core. */
  keepCore: boolean;
  /** Uncaught exceptions abort, so an abort may be one. */
  localsFromCore: boolean;
  digestCore?: CoreDigest;
  /** What was read while the process was held at its fault, if the kernel writes no core. */
  held?: HeldDeath;
  /** Set if it died because its heap was full. */
  fullHeap?: FullHeap;
  readHeapApart?: FullHeapOptions['readApart'] | undefined;
  /** The bundle that was written before the supervisor ended it. */
  dumped?: Explanation;
}

export interface Explanation {
  verdictKind?: string;
  /** Path of the bundle. */
  bundle?: string;
  /** The exit status that the program would have had without us. */
  asExit?: ChildExit;
}

/** Writing a bundle takes seconds, and perhaps a minute with the heap. */
const lastMomentsMs = 120_000;

/** Never rejects: the program's exit code is more important than a bundle. */
export async function explainEnd(end: BadEnd): Promise<Explanation> {
  try {
    const own = end.dumped ?? findOwnBundle(end);
    if (own || !isUnexplained(end.exit)) {
      end.fullHeap?.reading?.stop();
      if (own?.bundle !== undefined && end.exit.code !== undefined)
        noteHandlersEnd(own.bundle, end.exit.code);
      if (end.child.session) clearSession(end.child.session.folder, end.child.session.id);
      return own ?? {};
    }
    return await finish(end);
  } catch (error) {
    process.stderr.write(
      `agentdump: no bundle of this exit: ${error instanceof Error ? error.message : error}\n`,
    );
    return {};
  }
}

async function finish(end: BadEnd): Promise<Explanation> {
  const { dir, child, exit, signalsSent, command } = end;
  const endedAt = new Date();
  const session = child.session;
  if (!session) return {};
  const scrubber = makeScrubber(process.env, child.withheld());
  const witness: Witness = {
    foundBy: 'supervisor',
    exit,
    endedAt: endedAt.toISOString(),
    ...(signalsSent.length && { signalsSent }),
  };
  // Reading a core takes seconds, during which a sweep, even our own, must not treat the session as abandoned.
  const isLocked = end.held?.isLocked || tryLockSession(session.folder);
  const { core, part, gap, heap } = await lookForCore(end, session.facts.startedAt, scrubber);
  const deadHeap = heap ?? (end.fullHeap && (await awaitHeap(end.fullHeap)));
  if (isLocked) unlockSession(session.folder);
  if (core) witness.core = core;
  const behind = exit.inferred ? findDeadDescendant(dir, session.id) : undefined;
  const folder = behind ?? session.folder;
  const result = finishSession({
    dir,
    folder,
    witness,
    scrubber,
    ...lockOf(process.env),
    ...(!behind && { command: scrubber.argv(command) }),
    ...(part && { core: part }),
    ...(gap !== undefined && { coreGap: gap }),
    ...(deadHeap && isOf(folder, end.fullHeap?.pid ?? child.pid) && { heap: deadHeap }),
  });
  if (behind) clearSession(session.folder, session.id);
  if (result.outcome !== 'sealed') return {};
  const wasThrow = end.localsFromCore && part?.verdictKind === 'uncaught-exception';
  return {
    bundle: result.path,
    verdictKind: result.verdictKind,
    ...(wasThrow && { asExit: { code: uncaughtCode } }),
  };
}

/** Whether the session is that of the process. */
function isOf(folder: string, pid: number): boolean {
  return readSession(folder).process.pid === pid;
}

/** Node's exit code after an uncaught exception. */
const uncaughtCode = 1;

interface FoundCore {
  core?: CoreEvidence;
  part?: CorePart;
  gap?: string;
  /** Set if the heap was full and could not be copied before the end. */
  heap?: DeadHeap;
}

/** The kernel's core, reduced for the bundle. Afterwards it is removed if it exists only because we asked for it. */
async function lookForCore(end: BadEnd, startedAt: string, scrubber: Scrubber): Promise<FoundCore> {
  const { child, exit, command, digestCore, keepCore, held, fullHeap, readHeapApart } = end;
  if (held) return lookAtHeld(held);
  if (child.core === 'none' || !leavesCore.has(exit.signal ?? '')) return {};
  if (typeof child.core === 'object') return { core: { pattern: corePattern(), ...child.core } };
  const core = findCore({
    pid: child.pid,
    cwd: process.cwd(),
    executable: command[0] ?? '',
    startedAtMs: Date.parse(startedAt),
  });
  if (core.path === undefined) return { core };
  const isOurs = !keepCore && child.core !== 'theirs';
  const path = isOurs && child.session ? takeCore(child.session.folder, core.path) : core.path;
  const found: FoundCore = { core };
  try {
    if (digestCore) found.part = await digestCoreFile(path, digestCore, scrubber, command);
    if (found.part?.problems?.length) found.gap = `the kernel's core: ${found.part.problems.join('; ')}`;
  } catch (error) {
    found.gap = `the kernel's core could not be read: ${error instanceof Error ? error.message : error}`;
  }
  if (fullHeap && !fullHeap.reading && readHeapApart)
    found.heap = await readHeapOfCore(fullHeap, path, (core) => readHeapApart(core, command));
  if (!isOurs) return found;
  rmSync(path, { force: true });
  const { path: _, ...gone } = core;
  found.core = {
    ...gone,
    reason: 'it was removed when its mini core was made: it holds memory in the clear',
  };
  return found;
}

const corePattern = () => platform.kernelFile('sys/kernel/core_pattern') ?? '';

/** It was redacted already, by a scrubber that knew its secrets. */
function lookAtHeld({ part, gap }: HeldDeath): FoundCore {
  const reason = 'the kernel leaves none here; the process was held at its fault and read from outside';
  const missing = gap ?? (part?.gaps.length ? part.gaps.join('; ') : undefined);
  return {
    core: { pattern: corePattern(), reason },
    ...(part && { part }),
    ...(missing !== undefined && { gap: missing }),
  };
}

/**
 * Triggers after which the program continues, so that their bundles don't explain its death. The bundle that does has the
 * program's pid and is newer than its start.
 */
const ofTheLiving = new Set<TriggerPart['kind']>([
  'snapshot-call',
  'snapshot-signal',
  'snapshot-memory',
  'stall',
  'no-progress',
]);

function findOwnBundle(end: BadEnd): Explanation | undefined {
  const { dir, child } = end;
  const startedAt = child.session?.facts.startedAt;
  if (startedAt === undefined) return undefined;
  for (const listed of listBundles(dir)) {
    if (listed.at < startedAt) return undefined;
    if (listed.state === 'encrypted' && isOwnByName(listed, end)) return { bundle: listed.path };
    if (listed.state !== 'sealed') continue;
    const bundle = openBundle(listed.path);
    const trigger = bundle.readJson<TriggerPart>(partNames.trigger);
    bundle.close();
    const hasSurvived =
      trigger?.handledByHost && (listed.sequel?.event !== 'handling' || end.exit.code === undefined);
    const isDeath = trigger !== undefined && !ofTheLiving.has(trigger.kind) && !hasSurvived;
    if (trigger?.pid === child.pid && isDeath)
      return { bundle: listed.path, verdictKind: listed.verdictKind ?? 'unknown' };
  }
  return undefined;
}

/** Of an encrypted bundle only the name can be read: it must be of this program, of its last moments, and no snapshot. */
function isOwnByName({ name, at }: ListedBundle, { child, exit }: BadEnd): boolean {
  const words = readBundleName(name)?.words ?? '';
  const isLate = Date.now() - Date.parse(at) < lastMomentsMs;
  const couldWrite = exit.signal !== 'SIGKILL' && !words.endsWith('-snapshot');
  return isLate && couldWrite && words.startsWith(`${programWord(child.session?.facts.program ?? '')}-`);
}

/** If the child was a shell or `npm run`, the program that died below it has its own session. */
function findDeadDescendant(dir: string, parentSession: string): string | undefined {
  const dead = listSessions(dir).filter((folder) => {
    try {
      const facts = readSession(folder);
      return facts.parentSession === parentSession && classifySession(folder, facts).fate === 'died';
    } catch {
      return false;
    }
  });
  return dead.length === 1 ? dead[0] : undefined;
}

/**
 * Only sessions that began before this process: deaths below our own program are explained when it ends. Never throws,
 * because it runs while the program works.
 */
export function sweepBehind(dir: string): void {
  const witness: Witness = { foundBy: 'next-start' };
  const options = { dir, witness, scrubber: makeScrubber(process.env), ...lockOf(process.env) };
  try {
    sweepSessions(options, beganBeforeUs);
  } catch {
    // `agentdump sweep` reports the error.
  }
}

function beganBeforeUs(folder: string): boolean {
  try {
    return Date.parse(readSession(folder).startedAt) < performance.timeOrigin;
  } catch {
    // An unreadable session is swept like any other.
    return true;
  }
}

/** Resolves with the hook's exit code. `facts` are passed as variables. */
export function runCrashLoopHook(commandLine: string, facts: Record<string, string>): Promise<number> {
  const child = spawn('/bin/sh', ['-c', commandLine], {
    stdio: 'inherit',
    env: { ...process.env, ...facts },
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 128));
  });
}

/** Variables that make the run after a failure record more, except those that the user has set. */
export function escalationAfter(
  verdictKind: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const closer: Record<string, string> = { AGENTDUMP_LOCALS: 'uncaught', AGENTDUMP_CONTEXT: 'always' };
  if (verdictKind?.endsWith('-out-of-memory') || verdictKind === 'snapshot')
    closer['AGENTDUMP_MEMORY_PERCENT'] = '40';
  return Object.fromEntries(Object.entries(closer).filter(([name]) => environment[name] === undefined));
}

/** Renames the state folder, with a timestamp, so that the next run starts without it. Never throws. */
export function beginAfresh(folder: string | undefined): { moved?: string; reason?: string } {
  if (folder === undefined || !existsSync(folder)) return {};
  const moved = `${folder}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  try {
    platform.files.rename(folder, moved);
    return { moved };
  } catch (error) {
    return { reason: `it could not be moved away: ${(error as NodeJS.ErrnoException).code}` };
  }
}
