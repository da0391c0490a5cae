/**
 * The main thread's event loop is blocked by a loop, a computation, promises that starve it, or a wait in native code.
 * Detected during the hang, by the watchdog inside the program or from outside. Whether it ended later is in the `.sequel`
 * file beside the bundle, if that was observed.
 */
import { isHang } from '../../../bundle/layout/verdict-codes.ts';
import { foldCommand } from '../../../model/command-text.ts';
import { culpritFrame, frameText, isFunctionText } from '../../../model/frame-text.ts';
import { clip, formatCount, formatDuration, formatShare } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence, Verdict } from '../../../model/verdict.ts';
import type { TriggerFacts } from '../../parts/trigger.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightEvidence } from '../in-flight.ts';
import { cwdOf, placedAt, titled } from '../wording.ts';

type Stall = NonNullable<TriggerFacts['stall']>;
type Kind =
  | 'loop'
  | 'microtasks'
  | 'calls'
  | 'calls-or-queued'
  | 'waiting'
  | 'native'
  | 'starved'
  | 'unasked';

/** As a share of the silent time. Below it, the thread was waiting. */
const busyShare = 0.05;
const mostLocals = 4;
const leastHangMs = 1000;

export const eventLoopHang: Cause = {
  kind: 'event-loop-hang',
  layer: 'reason',
  consider(facts) {
    const { trigger } = facts;
    const stall = trigger?.stall;
    if (!trigger || (!stall && trigger.kind !== 'silence')) return undefined;
    // A snapshot on request remains a snapshot.
    if (trigger.kind !== 'stall' && trigger.kind !== 'silence' && trigger.kind !== 'signal') return undefined;
    // A test run was stopped, and the loop waited: test-stopped.ts.
    if (trigger.unasked && facts.account.process?.test?.stop && waitsInLoop(facts)) return undefined;
    // A program may simply be busy when a signal arrives.
    if (trigger.kind === 'signal' && (stall?.silentMs ?? 0) < leastHangMs && !stall?.earlier)
      return undefined;
    return verdictOf(facts, stall ?? seenFromOutside(facts));
  },
};

/** A process with neither a stack nor memory data didn't answer the debugger: it was in native code. */
function seenFromOutside({ trigger, memory }: VerdictFacts): Stall {
  return trigger?.exitStack === undefined && memory === undefined && !trigger?.unasked
    ? { where: 'native' }
    : {};
}

function verdictOf(facts: VerdictFacts, stall: Stall): Verdict {
  const spinning = spinningFrame(facts, stall);
  const kind = facts.trigger?.unasked && !spinning ? 'unasked' : kindOf(stall);
  const where =
    kind === 'starved'
      ? ': its thread got no processor'
      : spinning
        ? ` in ${frameText(spinning, cwdOf(facts.account))}`
        : childText(facts, stall);
  return {
    kind: 'event-loop-hang',
    title: titled(`The event loop hangs${where}`),
    ...placedAt(spinning),
    summary: [summaries[kind](durationOf(stall)), busyMachineText(stall), endText(facts)]
      .filter(Boolean)
      .join(' '),
    confidence: confidenceOf(facts, stall, kind, spinning),
    evidence: [
      ...stallEvidence(stall, kind),
      ...frameEvidence(facts, stall, spinning),
      ...sequelEvidence(facts),
      ...inFlightEvidence(facts),
    ],
    refutedBy: sequelOf(facts)
      ? 'How it ended was recorded too.'
      : 'A `stallEnd` record in the journal of this process, or a later bundle of it: then the event loop recovered.',
    nextSteps: nextSteps[kind],
  };
}

/** A stall that a signal interrupted before the limit may have been legitimate work. */
function confidenceOf(
  { trigger }: VerdictFacts,
  stall: Stall,
  kind: Kind,
  spinning: Frame | undefined,
): Verdict['confidence'] {
  if (trigger?.kind === 'signal' && !isHang(stall)) return 'possible';
  // Short, legitimate work takes just as long if the thread gets no processor.
  if (isStarved(stall)) return 'likely';
  // Where it was when it was looked at is not what it had waited for.
  if (kind.startsWith('calls')) return 'likely';
  return spinning || kind === 'native' ? 'certain' : 'likely';
}

/**
 * `waiting` only if the thread neither ran nor was queued for a processor, `native` not if it was mostly queued: a thread that does not
 * run can't stop for a debugger either.
 */
function kindOf(stall: Stall): Kind {
  const { where, microtasksRan, silentMs, cpuMs, queuedMs } = stall;
  if (where === 'native') return isStarved(stall) && !ranUnanswering(stall) ? 'starved' : 'native';
  const wasReady = (cpuMs ?? Number.NaN) + (queuedMs ?? Number.NaN);
  const hasWaited = silentMs !== undefined && wasReady < silentMs * busyShare;
  // Only Linux tells how long a thread was queued. Without that, little CPU time only rules out that promises kept it busy.
  const isIdle = queuedMs === undefined && (cpuMs ?? Number.NaN) < (silentMs ?? 0) * busyShare;
  if (microtasksRan && isIdle) return 'calls-or-queued';
  if (microtasksRan) return hasWaited ? 'calls' : 'microtasks';
  return hasWaited ? 'waiting' : 'loop';
}

/** JavaScript answers within much less. */
const ranUnanswering = ({ cpuWhileAskedMs = 0 }: Stall): boolean => cpuWhileAskedMs >= 200;

const isStarved = ({ silentMs = 0, queuedMs = 0 }: Stall): boolean => queuedMs > silentMs / 2;

/**
 * It was counted from the last answer on, while a silence does not count what the watchdog itself was queued. A thread that ran was not
 * queued meanwhile.
 */
const queuedOf = ({
  silentMs = 0,
  queuedMs = 0,
  cpuMs = 0,
}: {
  silentMs?: number | undefined;
  queuedMs?: number | undefined;
  cpuMs?: number | undefined;
}): number => Math.min(queuedMs, Math.max(0, silentMs - cpuMs));

const busyMachineText = (stall: Stall): string =>
  queuedOf(stall) > (stall.silentMs ?? 0) / 2
    ? `For ${formatDuration(queuedOf(stall))} of it the thread was ready to run and got no processor: the machine was busy.`
    : '';

const durationOf = ({ silentMs }: Stall): string =>
  silentMs === undefined ? '' : ` for ${formatDuration(silentMs)}`;

const summaries: Record<Kind, (duration: string) => string> = {
  loop: (duration) =>
    `The main thread was in JavaScript${duration} without returning to its event loop: no timer, no reply and no signal handler of the program can run until it does.`,
  microtasks: (duration) =>
    `Promises starved the event loop${duration}: each one settled at once, and its continuation ran before any timer, reply or signal handler.`,
  calls: (duration) =>
    `The event loop did not turn${duration}, and the main thread used hardly any CPU time: it waited in synchronous calls (child processes, files, locks), and continuations of promises ran between them.`,
  'calls-or-queued': (duration) =>
    `The event loop did not turn${duration}, and the main thread used hardly any CPU time: it waited in synchronous calls (child processes, files, locks) or for a processor, and continuations of promises ran between them.`,
  waiting: (duration) =>
    `The main thread has waited${duration} inside a synchronous call, without using the CPU: nothing else of the program can run meanwhile.`,
  native: (duration) =>
    `The main thread was in native code or a system call${duration}: a synchronous child process, file operation or native computation. No debugger could stop it there.`,
  unasked: (duration) =>
    `The event loop did not turn${duration}. Where its thread was is not known: another process had the port of the inspector, through which its stack is read.`,
  starved: (duration) =>
    `The event loop did not turn${duration}, and the main thread did not stop for a debugger: what it was about to run is not known.`,
};

const nextSteps: Record<Kind, string[]> = {
  loop: [
    'Look at the condition that should end the loop, with the variables shown at its frame.',
    'If the work is legitimate but long, do it in a worker thread or in pieces, with `await setImmediate()` between them.',
    'If it is a regular expression, limit the length of its input, or remove nested repetition.',
  ],
  microtasks: [
    'Let the loop yield to the event loop: `await setImmediate()` (node:timers/promises) every so many rounds.',
    'Look at the condition that should end it, with the variables shown at its frame.',
  ],
  calls: [
    'Use the asynchronous form of the calls (`execFile` instead of `execFileSync`, `fs.promises`), or let the event loop turn between them: `await setImmediate()` (node:timers/promises).',
  ],
  'calls-or-queued': [
    'Look at the load of the machine, and at the calls on the stack.',
    'Use the asynchronous form of the calls (`execFile` instead of `execFileSync`, `fs.promises`), or let the event loop turn between them: `await setImmediate()` (node:timers/promises).',
  ],
  waiting: [
    'Find what should end the wait, and give it a time limit.',
    'Wait asynchronously (`Atomics.waitAsync`, promises).',
  ],
  native: [
    'Use the asynchronous form of the call (`execFile`, `fs.promises`, `zlib.gzip`), with a time limit.',
    'While it hangs: `agentdump capture <pid>` reads its stack from outside.',
  ],
  unasked: [
    'While it hangs: free the inspector’s port 9229 (a debugger may hold it) and run `agentdump capture <pid>`, or read its memory with `agentdump capture --core <pid>`.',
  ],
  starved: [
    'Find what else runs on the machine, or give the container more CPU time: throttling by its limit looks the same.',
    'If it hangs again on a machine with processors to spare, that bundle shows what it runs.',
  ],
};

function endText(facts: VerdictFacts): string {
  const { trigger } = facts;
  if (trigger?.kind === 'signal' && trigger.signal)
    return `${trigger.signal.name} came while the event loop was blocked, so no handler of the program could run.`;
  const sequel = sequelOf(facts);
  if (sequel?.event === 'died') return 'It did not recover: the process died during the hang.';
  if (sequel?.event === 'ended') return 'The process ended by itself soon afterwards.';
  const after = sequel?.silentMs === undefined ? '' : ` after ${formatDuration(sequel.silentMs)} in all`;
  return sequel
    ? `It recovered${after}, and the process continued.`
    : 'It is not known whether the event loop recovered after this bundle was written.';
}

const sequelOf = ({ account }: VerdictFacts) => account.bundle?.sequel;

const sequelFacts: Readonly<Record<string, string | undefined>> = {
  recovered: 'The event loop ran again',
  ended: 'The process ended by itself',
  died: 'The process was found dead',
};

function sequelEvidence(facts: VerdictFacts): Evidence[] {
  const { event = '', at } = sequelOf(facts) ?? {};
  const fact = sequelFacts[event];
  return fact === undefined
    ? []
    : [{ fact: `${fact} at ${at}.`, part: 'the file .sequel beside the bundle' }];
}

/**
 * The innermost of the program's frames that all samples have in common: whatever it calls varies. Stacks are compared from
 * the outermost frame inward, by function and file in the recorded stack text.
 */
export function spinningFrame(facts: VerdictFacts, { laterStacks = [] }: Stall): Frame | undefined {
  const frames = mainFrames(facts);
  const own = callsOf(facts.trigger?.exitStack ?? '');
  let common = own.length;
  for (const calls of laterStacks.map(callsOf)) {
    if (!calls.length) continue;
    let same = 0;
    while (same < Math.min(own.length, calls.length) && own.at(-1 - same) === calls.at(-1 - same)) same++;
    common = Math.min(common, same);
  }
  const shared = frames.slice(Math.max(0, frames.length - Math.max(1, common)));
  return culpritFrame(shared) ?? culpritFrame(frames);
}

/** The process is alive, so no thread is marked as crashed. */
export function mainFrames({ account }: VerdictFacts): Frame[] {
  return account.threads?.find((thread) => thread.kind === 'main')?.frames ?? [];
}

/** By the main thread's native stack, which was read from memory: no JavaScript, and libuv's wait for events. */
export function waitsInLoop(facts: VerdictFacts): boolean {
  const frames = mainFrames(facts);
  return (
    frames.every(({ line }) => line === undefined) &&
    frames.some((frame) => /^(?:uv__io_poll|epoll_p?wait)\b/.test(frame.function ?? ''))
  );
}

/** Function and file of each frame, innermost first. */
function callsOf(stackText: string): string[] {
  return stackText
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.replace(/:\d+:\d+\)?$/, ''));
}

function childText({ handles }: VerdictFacts, { where }: Stall): string {
  if (where !== 'native') return '';
  const [child] = handles?.children ?? [];
  if (!child) return ' in native code';
  // Of a process that has not started its program yet, or has ended and not been waited for, the system has no command.
  return child.command
    ? ` while it waits for \`${foldCommand(child.command, 50)}\``
    : ' while it waits for a child process';
}

function stallEvidence(
  { silentMs, limitMs, cpuMs, queuedMs, callback, earlier, microtasksRan }: Stall,
  kind: Kind,
): Evidence[] {
  const part = 'trigger.json';
  const evidence: Evidence[] = [];
  if (silentMs !== undefined) {
    const limit = limitMs === undefined ? '' : `; ${formatDuration(limitMs)} is the limit`;
    evidence.push({ fact: `The loop had not turned for ${formatDuration(silentMs)}${limit}.`, part });
  }
  if (cpuMs !== undefined && silentMs)
    evidence.push({
      fact: `The main thread used ${formatDuration(cpuMs)} of CPU time in it (${formatShare(Math.min(1, cpuMs / silentMs))}).`,
      part,
    });
  const queuedInIt = queuedOf({ silentMs, queuedMs, cpuMs });
  if (silentMs && queuedInIt >= silentMs * busyShare)
    evidence.push({
      fact: `It was ready to run for ${formatDuration(queuedInIt)} without getting a processor.`,
      part,
    });
  if (microtasksRan && (kind === 'microtasks' || kind.startsWith('calls')))
    evidence.push({
      fact: 'A microtask that was queued while it hung did run; the loop did not turn.',
      part,
    });
  if (kind === 'native')
    evidence.push({
      fact: 'It did not stop for a debugger, which running JavaScript does within milliseconds.',
      part,
    });
  if (callback !== undefined) evidence.push({ fact: `It runs the callback of a ${callback}.`, part });
  if (earlier) evidence.push({ fact: `${formatCount(earlier, 'stall')} of it was reported before.`, part });
  return evidence;
}

function frameEvidence(
  facts: VerdictFacts,
  { laterStacks = [], where }: Stall,
  spinning: Frame | undefined,
): Evidence[] {
  if (!spinning) return where === 'native' ? nativeEvidence(facts) : [];
  const place = frameText(spinning, cwdOf(facts.account));
  const looks = laterStacks.length + 1;
  const seen = looks > 1 ? `In each of ${looks} looks it was in` : 'It was in';
  const evidence: Evidence[] = [{ fact: `${seen} ${place}.`, part: 'trigger.json' }];
  const values = (spinning.locals ?? []).filter(
    ({ scope, value }) => (scope === 'local' || scope === 'block') && !isFunctionText(value),
  );
  if (values.length)
    evidence.push({
      fact: `There: ${values
        .slice(0, mostLocals)
        .map(({ name, value }) => `${name} = ${clip(value, 80)}`)
        .join(', ')}.`,
      part: 'locals.json',
    });
  return where === 'native' ? [...evidence, ...childEvidence(facts)] : evidence;
}

function nativeEvidence(facts: VerdictFacts): Evidence[] {
  const { account } = facts;
  const main = account.threads?.find(
    (thread) => thread.kind === 'native' && thread.id === account.process?.pid,
  );
  const evidence: Evidence[] = [];
  if (main?.state)
    evidence.push({
      fact: `The kernel has the main thread as ${clip(main.state, 80)}.`,
      part: 'threads.json',
    });
  return [...evidence, ...childEvidence(facts)];
}

export function childEvidence({ handles }: VerdictFacts): Evidence[] {
  return (handles?.children ?? []).slice(0, 3).map(({ pid, command }) => ({
    fact: command
      ? `Its child ${pid} runs: ${foldCommand(command, 120)}.`
      : `Its child ${pid} has no command: it has just been started, or has ended.`,
    part: 'handles.json',
  }));
}
