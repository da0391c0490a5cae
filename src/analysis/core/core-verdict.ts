/** The verdict of a core, from the fault, the cause of an abort, and the frames of the thread that died. Pure. */
import type { Account } from '../../model/account.ts';
import { culpritFrame, frameText } from '../../model/frame-text.ts';
import { clip } from '../../model/quantities.ts';
import type { Frame, Thread } from '../../model/thread.ts';
import type { Evidence, Verdict, VerdictKind } from '../../model/verdict.ts';
import type { Fault } from './fault/fault-facts.ts';
import type { Collected } from './input/collected.ts';
import type { AbortCause } from './native/abort-cause.ts';
import { findBlamedModule } from './native/blamed-module.ts';

const part = 'core';
const maxTitle = 100;
const SIGSEGV = 11;
const kindsBySignal: Record<number, VerdictKind> = {
  4: 'native-crash',
  5: 'native-crash',
  6: 'abort',
  7: 'native-crash',
  8: 'native-crash',
  11: 'native-crash',
};

export interface Surroundings {
  /** Paths of the modules that are Node itself. */
  nodes: ReadonlySet<string>;
  collected?: Collected | undefined;
}

export function concludeCore(
  account: Omit<Account, 'verdict' | 'signature'>,
  fault: Fault | undefined,
  cause: AbortCause | undefined,
  { collected, nodes }: Surroundings = { nodes: new Set() },
): Verdict {
  // The kernel may deliver a signal from another process to any thread.
  const main = fault?.kind === 'sent-signal' ? account.threads?.find((t) => t.kind === 'main') : undefined;
  const thread = main ?? account.threads?.find((t) => t.crashed) ?? account.threads?.[0];
  const frames = thread?.frames ?? [];
  const culprit = culpritFrame(frames);
  const top = frames[0];
  const evidence: Evidence[] = [];
  if (fault) evidence.push({ fact: signalSentence(fault), part });
  if (cause?.text) evidence.push({ fact: `Its last words: ${clip(cause.text, 300)}`, part });
  if (top) evidence.push({ fact: `Thread ${thread?.id} stopped in ${frameText(top)}.`, part });
  if (culprit && culprit !== top) evidence.push({ fact: `Called from ${frameText(culprit)}.`, part });
  const busy = fault?.kind === 'sent-signal' && !culprit ? findBusyWorker(account.threads) : undefined;
  if (busy) evidence.push({ fact: `Worker thread ${busy.id} was in ${frameText(busy.frame)}.`, part });
  if (collected?.at) evidence.push({ fact: `Kept by ${collected.by}: ${collected.at}.`, part });
  const addon = findBlamedModule(frames, nodes);
  const pid = account.process?.pid;
  const words = fault
    ? describeDeath(fault, { cause, addon, culprit, top, pid, busy })
    : describeSnapshot(culprit);
  return { ...words, title: clip(words.title, maxTitle), evidence };
}

/** A worker that runs JavaScript while the main thread waits: it may be what hangs. */
function findBusyWorker(threads: readonly Thread[] | undefined): Clues['busy'] {
  for (const { id, kind, frames } of threads ?? []) {
    const frame = kind === 'worker' ? culpritFrame(frames) : undefined;
    if (frame) return { id, frame };
  }
  return undefined;
}

type Words = Omit<Verdict, 'evidence'>;

function signalSentence(fault: Fault): string {
  const code = fault.code ? ` (${fault.code})` : '';
  const where = fault.address === undefined ? '' : ` at 0x${fault.address.toString(16)}`;
  const source =
    fault.evidence === 'signal-frame'
      ? ', recovered from the signal frame on the stack: the kernel’s own note was overwritten when the handler raised the signal again'
      : '';
  return `${fault.signalName}${code}${where}: ${fault.description}${source}.`;
}

/** What the verdict's texts are made from. */
interface Clues {
  cause: AbortCause | undefined;
  /** Name of the module whose native code was running, if not Node's. */
  addon: string | undefined;
  culprit: Frame | undefined;
  top: Frame | undefined;
  pid: number | undefined;
  /** A worker at work while the main thread waited. */
  busy?: { id: number | string; frame: Frame } | undefined;
}

function describeDeath(fault: Fault, clues: Clues): Words {
  const { cause, addon, culprit, top } = clues;
  if (cause && (fault.kind === 'abort' || fault.kind === 'trap' || fault.kind === 'illegal-instruction'))
    return describeAbort(fault, cause, clues);
  if (fault.kind === 'sent-signal' || fault.kind === 'own-signal') return describeSentSignal(fault, clues);
  if (fault.kind === 'limit-reached') return describeLimit(fault, clues);
  const where = culprit ? ` under ${frameText(culprit)}` : '';
  return {
    kind: fault.kind === 'abort' ? 'abort' : 'native-crash',
    title: `${fault.signalName}: ${fault.description}${addon ? ` in ${addon}` : ''}`,
    summary: `Machine code stopped the process${placeIn(top, addon)}${where}.`,
    confidence: fault.evidence === 'registers' ? 'likely' : 'certain',
    refutedBy: 'a core of the same death whose registers or memory say otherwise',
    nextSteps: stepsFor(fault, culprit, top),
  };
}

/** ` in read_token (fastjson.node)`. */
function placeIn(top: Frame | undefined, addon: string | undefined): string {
  if (!top?.function) return addon ? ` in ${addon}` : '';
  return ` in ${top.function}${addon && top.module?.endsWith(`/${addon}`) ? ` (${addon})` : ''}`;
}

/**
 * Nothing failed in the process: the stacks show where it was, not why it ended. A program that sends itself a fault's signal
 * wants to end as if by that fault.
 */
function describeSentSignal(fault: Fault, { pid, culprit, top, busy }: Clues): Words {
  const isOwn = fault.kind === 'own-signal';
  // Node's handler of faults raises SIGSEGV again, so that the program itself is the sender of what may have been a fault.
  const isFromOutside = fault.sender !== undefined && fault.sender.pid !== pid;
  const isKnown = fault.signal !== SIGSEGV || isOwn || isFromOutside;
  const kind = isKnown && !isOwn ? 'terminated' : (kindsBySignal[fault.signal] ?? 'terminated');
  const at = culprit ?? top;
  return {
    kind,
    title: `${fault.signalName}: ${fault.description}`,
    summary: `${isKnown ? `The process did not fail: a signal ${isOwn ? 'of its own ' : ''}ended it` : 'A signal ended the process'}${at ? ` while it was in ${frameText(at)}` : ''}${busy ? `, and its worker ${busy.id} in ${frameText(busy.frame)}` : ''}.`,
    confidence: isKnown ? 'certain' : 'likely',
    refutedBy: 'a core of the same death whose note names another sender or a fault',
    nextSteps: [
      fault.sender && fault.sender.pid !== 0 && !isOwn
        ? `Find out what process ${fault.sender.pid} was: a person, a watchdog, or a supervisor that takes a core of what hangs.`
        : 'Find out what sent the signal.',
      'Read the stacks and the functions that were waiting: they say what the process was doing.',
    ],
  };
}

/** The kernel sent the signal: the limit is certain, but not that what was running used it up. */
function describeLimit(fault: Fault, { culprit, top }: Clues): Words {
  const at = culprit ?? top;
  return {
    kind: 'resource-exhaustion',
    title: `${fault.signalName}: ${fault.description}`,
    summary: `The kernel ended the process at a limit of the shell or the service manager${at ? ` while it was in ${frameText(at)}` : ''}.`,
    confidence: 'certain',
    refutedBy: 'a core of the same death whose note names a sender',
    nextSteps: [
      'Find out who set the limit: ulimit, limits.conf, or the service manager.',
      'Read the stacks: they say what the process was doing.',
    ],
  };
}

function stepsFor(fault: Fault, culprit?: Frame, top?: Frame): string[] {
  const steps: string[] = [];
  if (fault.kind === 'stack-overflow') {
    steps.push(
      'Look for the recursion in the repeating frames, and for a --stack-size above the limit of the shell.',
    );
    return steps;
  }
  if (fault.kind === 'refused-call')
    return ['Allow the call in the seccomp profile of the container or service, or avoid what makes it.'];
  if (top?.module?.endsWith('.node'))
    steps.push(`Check the version of the addon ${top.module}, and whether it was built for this Node.`);
  if (culprit) steps.push(`Look at the call in ${frameText(culprit)}: its arguments are with the frame.`);
  steps.push('Run the same call again with the arguments that the core shows.');
  return steps;
}

const abortKinds: Record<AbortCause['kind'], VerdictKind> = {
  uncaught: 'uncaught-exception',
  'cpp-exception': 'abort',
  'out-of-memory': 'heap-out-of-memory',
  'abort-call': 'abort',
  assertion: 'abort',
  libc: 'abort',
  'buffer-overflow': 'abort',
  'pure-virtual': 'abort',
  addon: 'abort',
  'fatal-error': 'abort',
};

function describeAbort(fault: Fault, cause: AbortCause, { addon, culprit }: Clues): Words {
  const where = culprit ? ` in ${frameText(culprit)}` : '';
  const titles: Record<AbortCause['kind'], string> = {
    uncaught: `Uncaught ${cause.text ?? 'exception'}`,
    'cpp-exception': cause.text
      ? `Uncaught C++ exception ${cause.text}`
      : 'The C++ runtime ended the program (std::terminate)',
    'out-of-memory': "V8's heap ran out of memory",
    'abort-call': 'The program called process.abort()',
    assertion: `A C++ assertion failed${cause.text ? `: ${shortAssertion(cause.text)}` : ''}`,
    // Without its message only `malloc_printerr` tells what it found.
    libc:
      cause.text ??
      (cause.where === 'malloc_printerr'
        ? 'The C library found the heap corrupt'
        : 'The C library ended the program after a check of its own failed'),
    'buffer-overflow': cause.text ?? 'The C library found that a buffer had overflowed',
    'pure-virtual': 'A pure virtual method was called: an object was used before or after its life',
    addon: `${addon ?? 'An addon'} ended the process${cause.text ? `: ${cause.text}` : ' by napi_fatal_error'}`,
    'fatal-error': 'Node or V8 met a fatal error',
  };
  return {
    kind: abortKinds[cause.kind],
    title: titles[cause.kind],
    summary: `The process stopped itself with ${fault.signalName}${cause.where ? ` through ${clip(cause.where, 120)}` : ''}${where}.`,
    confidence: 'certain',
    refutedBy: 'another function at the top of the stack of the thread that died',
    nextSteps:
      cause.kind === 'out-of-memory'
        ? ['Read the classes of objects below: the largest is what filled the heap.']
        : culprit
          ? [`Look at ${frameText(culprit)}: its arguments are with the frame.`]
          : ['Read the stack of the thread that died.'],
  };
}

/** libc's message begins with the paths of program and source, which may leave no room for what was asserted. */
function shortAssertion(text: string): string {
  const [, file, line, where, asserted] =
    /^[^:]*: (?:.*\/)?([^/]+):(\d+): (.*): Assertion `(.*)' failed\.$/s.exec(text) ?? [];
  return file ? `${asserted} (${where} at ${file}:${line})` : text;
}

/** A core of a process that was not dying: taken during a hang, or on request. */
function describeSnapshot(culprit: Frame | undefined): Words {
  return {
    kind: 'snapshot',
    title: 'A core of a living process',
    summary: culprit
      ? `The main thread was in ${frameText(culprit)} when it was taken.`
      : 'No JavaScript was running on the main thread when it was taken.',
    confidence: 'certain',
    refutedBy: 'a signal in the notes of the core',
    nextSteps: ['Read the functions that were waiting, and compare with a second core taken a little later.'],
  };
}
