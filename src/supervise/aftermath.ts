/**
 * What the supervisor does when its program has ended badly, and imports only then: finds the bundle that the program
 * wrote of its own death, or has one written, and tidies up.
 */
import { spawn } from 'node:child_process';
import { programWord, readBundleName } from '../bundle/bundle-name.ts';
import { partNames, type TriggerPart } from '../bundle/layout.ts';
import type { EvidencePart } from '../bundle/layout-evidence.ts';
import { type ListedBundle, listBundles } from '../bundle/list.ts';
import { openBundle } from '../bundle/reader.ts';
import { classifySession, listSessions, readSession } from '../journal/reader-session.ts';
import type { RunningChild } from './child.ts';
import { clearSession } from './clear-session.ts';
import { findCore } from './core-file.ts';
import type { Witness } from './evidence.ts';
import { isUnexplained } from './exit-status.ts';
import { finishSession } from './finisher.ts';
import { lockOf } from './lock.ts';
import { makeScrubber } from './scrubber.ts';
import { sweepSessions } from './sweep.ts';

export interface BadEnd {
  dir: string;
  command: readonly string[];
  child: RunningChild;
  exit: NonNullable<EvidencePart['exit']>;
  signalsSent: NonNullable<EvidencePart['signalsSent']>;
  core: boolean;
}

export interface Explanation {
  verdictKind?: string;
  /** Path of the bundle. */
  bundle?: string;
}

/** Writing a bundle takes seconds, with the heap perhaps a minute. */
const lastMomentsMs = 120_000;

/** Never throws: the program's exit code is worth more than a bundle. */
export function explainEnd(end: BadEnd): Explanation {
  try {
    const own = findOwnBundle(end);
    if (own || !isUnexplained(end.exit)) {
      if (end.child.session) clearSession(end.child.session.folder, end.child.session.id);
      return own ?? {};
    }
    return finish(end);
  } catch (error) {
    process.stderr.write(
      `agentdump: no bundle of this end: ${error instanceof Error ? error.message : error}\n`,
    );
    return {};
  }
}

function finish(end: BadEnd): Explanation {
  const { dir, child, exit, signalsSent, command } = end;
  const session = child.session;
  if (!session) return {};
  const scrubber = makeScrubber(process.env);
  const witness: Witness = { foundBy: 'supervisor', exit, ...(signalsSent.length && { signalsSent }) };
  if (end.core)
    witness.core = findCore({
      pid: child.pid,
      cwd: process.cwd(),
      executable: command[0] ?? '',
      startedAtMs: Date.parse(session.facts.startedAt),
    });
  const behind = exit.inferred ? findDeadDescendant(dir, session.id) : undefined;
  const folder = behind ?? session.folder;
  const result = finishSession({
    dir,
    folder,
    witness,
    scrubber,
    ...lockOf(process.env),
    ...(!behind && { command: scrubber.argv(command) }),
  });
  if (behind) clearSession(session.folder, session.id);
  return result.outcome === 'sealed' ? { bundle: result.path, verdictKind: result.verdictKind } : {};
}

/** The bundle that the program wrote itself: its trigger names the pid, and it is younger than the program. */
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
    const isDeath =
      trigger?.kind !== 'snapshot-call' && trigger?.kind !== 'snapshot-signal' && !trigger?.handledByHost;
    if (trigger?.pid === child.pid && isDeath)
      return { bundle: listed.path, verdictKind: listed.verdictKind ?? 'unknown' };
  }
  return undefined;
}

/** Of an encrypted bundle only the name can be read: this program's, of its last moments, and no snapshot. */
function isOwnByName({ name, at }: ListedBundle, { child, exit }: BadEnd): boolean {
  const words = readBundleName(name)?.words ?? '';
  const isLate = Date.now() - Date.parse(at) < lastMomentsMs;
  const couldWrite = exit.signal !== 'SIGKILL' && !words.endsWith('-snapshot');
  return isLate && couldWrite && words.startsWith(`${programWord(child.session?.facts.program ?? '')}-`);
}

/** A shell or `npm run` was the child, and the program that died below it has a session of its own. */
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

/** Never throws: it is done beside the program's work. */
export function sweepBehind(dir: string): void {
  try {
    sweepSessions({
      dir,
      witness: { foundBy: 'next-start' },
      scrubber: makeScrubber(process.env),
      ...lockOf(process.env),
    });
  } catch {
    // `agentdump sweep` says what is wrong.
  }
}

/** The hook's exit code. Signature, count and bundle reach it as variables. */
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
