/**
 * Information from other bundles in the same folder: of a child that ended badly, of the same process if it was killed while
 * it wrote its own bundle, and of earlier hangs of the process, ends of its workers, and signals that it handled.
 */
import { basename, dirname, join } from 'node:path';
import { type ListedBundle, listBundlesBetween } from '../bundle/finished/list.ts';
import type { Account, ChildFacts, ProcessEvents } from '../model/account.ts';
import type { AgentState } from '../model/agent-state.ts';
import { endedBadly } from '../model/process-events/child-text.ts';
import { clip, formatDuration } from '../model/quantities.ts';
import type { Evidence, Verdict } from '../model/verdict.ts';
import { unseenTitle } from './verdict/causes/killed.ts';
import { maxTitleChars, titleFor } from './verdict/wording.ts';

const mostRead = 3;

/** `analyze` returns the verdict of a bundle, or undefined if it can't be read. */
export async function addChildVerdicts(
  bundlePath: string,
  processEvents: ProcessEvents | undefined,
  analyze: (path: string, id: string) => Promise<Verdict | undefined>,
): Promise<void> {
  const children = (processEvents?.children ?? []).filter(endedBadly).slice(-mostRead);
  for (const child of children) {
    const path = pathOf(bundlePath, child);
    const verdict = path && child.bundle && (await analyze(path, child.bundle.id));
    if (verdict) {
      const { kind, title, confidence } = verdict;
      child.verdict = { kind, title, confidence };
    }
  }
}

/** The name of a child's bundle comes from an untrusted bundle: it must not lead out of the folder. */
function pathOf(bundlePath: string, { bundle }: ChildFacts): string | undefined {
  return bundle && besides(bundlePath, bundle.name);
}

export function besides(bundlePath: string, name: string): string | undefined {
  return basename(name) === name && !name.startsWith('.') ? join(dirname(bundlePath), name) : undefined;
}

/**
 * The process was killed while it wrote its own bundle: that bundle's verdict is the death, and the kill only interrupted it.
 */
export function joinUnfinished(reached: Verdict, begun: Verdict): Verdict {
  const signal =
    reached.kind === 'killed'
      ? 'It was killed while it wrote its bundle.'
      : 'It ended while it wrote its bundle.';
  return {
    ...begun,
    summary: `${begun.summary} ${signal}`,
    evidence: [...begun.evidence, ...reached.evidence],
    ...(reached.beforeEnd && { beforeEnd: reached.beforeEnd }),
  };
}

/** The error that the program's handler was given when it threw. */
export function joinGiven(thrown: Verdict, given: Verdict, bundle: string): Verdict {
  const title = given.title.replace(/\.$/, '');
  const step =
    'Then look at the error that the handler was given, which came first: its bundle is beside this one.';
  return {
    ...thrown,
    summary: `${thrown.summary} The handler had been given: ${title}.`,
    evidence: [
      ...thrown.evidence,
      { fact: `Its bundle says of that error (${given.confidence}): ${title}.`, part: bundle },
    ],
    nextSteps: [...thrown.nextSteps.slice(0, 1), step, ...thrown.nextSteps.slice(1)],
  };
}

const hangs = new Set(['event-loop-hang', 'no-progress']);
/** A handler of the program received the signal, and the process lived on for a while. */
const handledSignal = 'terminated';
/** Of a thread that ended, while the program went on. */
const endOfWorker = 'worker-death';
const mostTold = 2;
/** A hang that it recovered from longer ago is unrelated to the end. */
const recentMs = 60_000;
/** Tolerance, because the start is computed from the uptime. */
const sameStartMs = 2_000;

/** `ongoing`: the account of the last hang, if nothing shows that it had passed. */
export interface BundlesBefore {
  facts: Evidence[];
  ongoing?: Account;
  /** The last signal that a handler of the program received, if the end was seen. */
  asked?: { signal: string; agoMs: number };
}

/**
 * Hangs of this process, ends of its workers and signals that it handled, recorded in other bundles, one sentence each, newest
 * first. `read` returns a bundle's account, or undefined if it can't be read. `isEndSeen`: if false, the process may have lived on
 * for a long time.
 */
export async function findBundlesBefore(
  bundlePath: string,
  { process, bundle, agent }: Account,
  isEndSeen: boolean,
  read: (path: string) => Promise<Account | undefined>,
): Promise<BundlesBefore> {
  const { pid, startedAt } = process ?? {};
  const at = bundle?.capturedAt;
  const found: BundlesBefore = { facts: [] };
  if (pid === undefined || !startedAt || !at) return found;
  for (const one of listBefore(bundlePath, startedAt, at)) {
    const agoMs = Date.parse(at) - Date.parse(one.at);
    if (found.facts.length === mostTold) break;
    if (one.sequel?.event === 'recovered' && agoMs > recentMs) continue;
    const account = await read(one.path);
    const { process: seen, verdict } = account ?? {};
    const isSame = seen?.pid === pid && areClose(seen.startedAt, startedAt);
    if (!isSame || !verdict || !isTold(verdict.kind)) continue;
    const since =
      one.sequel?.event === 'recovered'
        ? ', and it recovered'
        : hasBegunWorkAfter(agent, Date.parse(one.at))
          ? ', and the agent began new work after it'
          : '';
    const when = isEndSeen
      ? `A bundle of ${formatDuration(agoMs)} before`
      : `A bundle of ${one.at} (how long before the end is not known)`;
    if (isEndSeen && verdict.kind === handledSignal && account?.signal?.name && !found.asked)
      found.asked = { signal: account.signal.name, agoMs };
    const fact = `${when} says (${verdict.confidence}): ${verdict.title}${since}.`.replace(/…\.$/, '…');
    if (account && found.facts.length === 0 && hangs.has(verdict.kind) && since === '')
      found.ongoing = account;
    found.facts.push({ fact, part: one.name });
  }
  return found;
}

/** Work that began later was begun by code that ran again, so the hang had passed. An account has one thread's work. */
function hasBegunWorkAfter(agent: AgentState | undefined, at: number): boolean {
  return (agent?.runs ?? []).some(({ steps, modelCalls, toolCalls }) =>
    [...steps, ...modelCalls, ...toolCalls].some(
      ({ startedAt }) => startedAt !== undefined && Date.parse(startedAt) > at,
    ),
  );
}

/** Compared because pids aren't unique: every container has a process 1. */
function areClose(one: string | undefined, other: string): boolean {
  return one !== undefined && Math.abs(Date.parse(one) - Date.parse(other)) < sameStartMs;
}

const told = [...hangs, handledSignal, endOfWorker];
const isTold = (kind = ''): boolean => told.includes(kind);

function listBefore(bundlePath: string, from: string, to: string): ListedBundle[] {
  try {
    return listBundlesBetween(dirname(bundlePath), { from, to, kinds: told }).filter(
      ({ verdictKind, name }) => isTold(verdictKind) && name !== basename(bundlePath),
    );
  } catch {
    return [];
  }
}

/** `Killed by SIGKILL 2.6 s after SIGTERM`, which is how an orchestrator stops a program; who sent them is not known. */
export function joinRequest(account: Account, { signal, agoMs }: NonNullable<BundlesBefore['asked']>): void {
  const { verdict } = account;
  if (verdict?.kind !== 'killed' || verdict.title === unseenTitle) return;
  account.verdict = {
    ...verdict,
    title: clip(`${verdict.title} ${formatDuration(agoMs)} after ${signal}`, maxTitleChars),
  };
}

/** Nothing was observed after the hang, so its title is added to the verdict's title, and its place to the verdict. */
export function joinHang(account: Account, hang: Account): void {
  const { verdict } = account;
  if (verdict?.kind !== 'killed' || !hang.verdict) return;
  const { title, place } = hang.verdict;
  const end = verdict.title === unseenTitle ? 'Died unseen' : verdict.title;
  account.verdict = {
    ...verdict,
    title: titleFor(`${end}; last seen`, title),
    ...(place && !verdict.place && { place }),
  };
  if (!account.threads?.length && hang.threads) account.threads = hang.threads;
}
