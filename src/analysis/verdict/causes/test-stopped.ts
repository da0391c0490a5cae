/**
 * A test run that was stopped because it hung or was cancelled, or a test that failed; the process itself did not die. The
 * verdict names the test that was running, and for how long, because readers want that first.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { foldCommand } from '../../../model/command-text.ts';
import { onOneLine, shorten } from '../../../model/errors/message-text.ts';
import { culpritFrame, frameText, isOfNode, placeOf, workersInCode } from '../../../model/frame-text.ts';
import { clip, formatCount, formatDuration } from '../../../model/quantities.ts';
import { type TestFacts, testName, testOf } from '../../../model/tests.ts';
import type { Frame, Thread } from '../../../model/thread.ts';
import type { Evidence, Verdict, VerdictKind } from '../../../model/verdict.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightEvidence, placesOfWaits } from '../in-flight.ts';
import { keepersOf } from '../keeps-alive.ts';
import { cwdOf, isSnapshot, placedAt, titled } from '../wording.ts';
import { childEvidence, mainFrames, spinningFrame, waitsInLoop } from './event-loop-hang.ts';

const part = 'test.json';
const mostKeepers = 5;

export const testStopped: Cause = {
  // `stopped` chooses the kind by the reason.
  kind: 'no-progress',
  layer: 'mechanism',
  consider(facts) {
    const tests = facts.account.process?.test;
    if (!tests || !(isSnapshot(facts) || facts.trigger?.kind === 'silence')) return undefined;
    if (tests.stop) return stopped(facts, tests, tests.stop);
    return tests.failure && failed(facts, tests, tests.failure);
  },
};

function stopped(facts: VerdictFacts, tests: TestFacts, stop: NonNullable<TestFacts['stop']>): Verdict {
  const name = testName(tests);
  const subject = name === undefined ? 'The run' : `“${name}”`;
  const stuckAt = findStuckAt(facts);
  const after = stop.afterMs === undefined ? '' : ` ${formatDuration(stop.afterMs)}`;
  const isCancelled = stop.why === 'cancelled';
  const kind: VerdictKind = isCancelled
    ? 'terminated'
    : stuckAt === 'loop' || (isUnknown(stuckAt) && !stuckFrame(stuckAt, facts))
      ? 'no-progress'
      : 'event-loop-hang';
  const title = isCancelled
    ? `Cancelled${stop.signal ? ` by ${stop.signal}` : ''} while ${name === undefined ? 'the run went on' : `${subject} ran`}`
    : stop.why === 'job-limit'
      ? `${subject} had not finished when the job’s time was up`
      : `${subject} hung: no progress for${after}`;
  return {
    kind,
    title: titled(title),
    ...placedAt(stuckFrame(stuckAt, facts)),
    summary: [
      isCancelled
        ? 'The job was cancelled, which says nothing about the tests.'
        : `The run was stopped so that a bundle is left before the job is killed${after && ` (after${after})`}.`,
      textOfStuckAt(stuckAt, facts, tests),
    ].join(' '),
    confidence: isUnknown(stuckAt) && !isCancelled ? 'likely' : 'certain',
    evidence: [
      ...testEvidence(tests, stop),
      ...(stuckAt === 'native' ? childEvidence(facts) : []),
      ...(stuckAt === 'worker' ? workerEvidence(facts) : []),
      ...inFlightEvidence(facts),
    ],
    refutedBy: 'The same test finishing when it is given more time.',
    nextSteps: isCancelled
      ? ['See in the job’s log who cancelled it; if it was a time limit, look at the test that ran.']
      : stepsOf(stuckAt, facts, tests),
  };
}

/**
 * Where the main thread was: running code, in a synchronous call that does not return, or in its event loop. `worker`: the
 * event loop turns and a worker thread runs code. `unseen`: worker threads were busy but couldn't be inspected. `unasked`: the
 * main thread couldn't, and its memory doesn't show that it waited in its event loop, as with `idle`.
 */
type StuckAt = 'code' | 'native' | 'worker' | 'unseen' | 'unasked' | 'idle' | 'loop';

const isUnknown = (stuckAt: StuckAt): boolean =>
  stuckAt === 'unseen' || stuckAt === 'unasked' || stuckAt === 'idle';

/** A process with neither a stack nor memory data didn't answer the debugger. */
function findStuckAt(facts: VerdictFacts): StuckAt {
  const { trigger, memory } = facts;
  if (trigger?.exitStack !== undefined) return 'code';
  const isFromOutside = trigger?.kind === 'silence' || trigger?.kind === 'capture';
  if (isFromOutside && memory === undefined) {
    if (!trigger.unasked || isInSpawnSync(facts)) return 'native';
    if (!waitsInLoop(facts)) return 'unasked';
    return busyWorkers(facts).length > 0 ? 'worker' : 'idle';
  }
  if (busyWorkers(facts).length > 0) return 'worker';
  return unseenWorkers(facts) === undefined ? 'loop' : 'unseen';
}

/** By the stack that was read from its memory. */
function isInSpawnSync(facts: VerdictFacts): boolean {
  return mainFrames(facts).some((frame) => isOfNode(frame) && frame.function === 'spawnSync');
}

/** The frame at which a stop is to be read; undefined if several may be meant. */
function stuckFrame(stuckAt: StuckAt, facts: VerdictFacts): Frame | undefined {
  if (stuckAt === 'code' || stuckAt === 'unasked') return spinningFrame(facts, {});
  const workers = stuckAt === 'worker' ? busyWorkers(facts) : [];
  if (workers.length > 0) return workers.length === 1 ? culpritFrame(workers[0]?.frames) : undefined;
  const waits = stuckAt === 'loop' ? [...placesOfWaits(facts).values()] : [];
  return waits.length === 1 ? waits[0] : undefined;
}

/** Why busy worker threads couldn't be inspected: at least one used the processor or ran a test. */
function unseenWorkers({ account }: VerdictFacts): string | undefined {
  return account.gaps
    .find(({ part }) => part === partNames.workerStacks)
    ?.reason.replace(/^the main thread: /, '');
}

const busyWorkers = ({ account }: VerdictFacts): Thread[] => workersInCode(account.threads);

const isOfMemory = ({ frames }: Thread): boolean => frames.every(({ trust }) => trust !== 'inspector');

function workerEvidence(facts: VerdictFacts): Evidence[] {
  return busyWorkers(facts)
    .slice(0, 3)
    .flatMap((thread) => {
      const { id, name, frames } = thread;
      const culprit = culpritFrame(frames);
      if (!culprit) return [];
      const title = name === undefined ? `Worker ${id}` : `Worker ${id} (${clip(name, 60)})`;
      const fact = `${title} was in ${frameText(culprit, cwdOf(facts.account))}.`;
      return [{ fact, part: isOfMemory(thread) ? partNames.miniCore : partNames.workerStacks }];
    });
}

const stuckTexts = {
  unasked:
    'Where the main thread was is not known: another process had the port of the inspector, through which its stack is read.',
  code: 'The main thread was running code without a pause; the stack shows where.',
  worker:
    'A worker thread was running code without a pause, while the main thread’s event loop turned; its stack shows where.',
  idle: 'When the memory of the process was read, because another process had the port of the inspector, the main thread was waiting in its event loop: the test waits for something that does not come.',
  loop: 'The event loop was turning: the test waits for something that does not come.',
};

const readFromMemory =
  'The stack of the main thread was read out of its memory, because another process had the port of the inspector.';

const workerOfMemory =
  'A worker thread was running code while the main thread waited in its event loop. The stacks were read out of the memory of the process, because another process had the port of the inspector.';

const nextSteps: Record<StuckAt, string[]> = {
  unasked: [
    'Run again with the inspector’s port 9229 free (a debugger may hold it): the bundle then has the stack.',
  ],
  unseen: [
    'See whether a worker thread spins: run again with the inspector’s port 9229 free (a debugger may hold it).',
    'Look at what is in flight and at the open handles: what does the test await that never settles?',
  ],
  code: ['Look at the loop at the top of the stack, and at the values of its variables.'],
  worker: ['Look at the loop at the top of the worker’s stack, and at the values of its variables.'],
  native: [
    'Give the synchronous call a time limit (`execFileSync(file, args, { timeout: 10_000 })`), or take its asynchronous form.',
  ],
  idle: [
    'Look at the open handles: what does the test await that never settles?',
    'Run again with the inspector’s port 9229 free (a debugger may hold it): the bundle then shows what is awaited.',
  ],
  loop: ['Look at what is in flight and at the open handles: what does the test await that never settles?'],
};

/** True if tests had run and none was running: whatever is still open was left by a test, or by the code around the tests. */
function hasOnlyLeftovers({ running = [], finished = 0 }: TestFacts, facts: VerdictFacts): boolean {
  return running.length === 0 && finished > 0 && placesOfWaits(facts).size === 0;
}

function stepsOf(stuckAt: StuckAt, facts: VerdictFacts, tests: TestFacts): string[] {
  if (stuckAt === 'unasked' && spinningFrame(facts, {}))
    return ['Look at the top of the stack, and at the values of its variables.'];
  if (stuckAt === 'worker' && busyWorkers(facts).every(({ frames }) => frames.every((one) => !one.locals)))
    return ['Look at the loop at the top of the worker’s stack.'];
  if (stuckAt === 'loop' && hasOnlyLeftovers(tests, facts))
    return [
      'Close in an `after` hook what the tests opened: servers, connections, timers, child processes.',
      'To see who opened it, run once more with AGENTDUMP_HANDLES=stacks.',
    ];
  const [frame] = stuckAt === 'loop' ? [...placesOfWaits(facts).values()] : [];
  const place = frame && placeOf(frame, cwdOf(facts.account));
  return place
    ? [`Open ${place} and check who settles the promise that is awaited there.`]
    : nextSteps[stuckAt];
}

function textOfStuckAt(stuckAt: StuckAt, facts: VerdictFacts, tests: TestFacts): string {
  if (stuckAt === 'native') return nativeText(facts);
  if (stuckAt === 'unasked' && spinningFrame(facts, {})) return readFromMemory;
  if (stuckAt === 'worker' && busyWorkers(facts).every(isOfMemory)) return workerOfMemory;
  if (stuckAt === 'unseen')
    return `The main thread’s event loop was turning. A worker thread was at work; where is not known (${unseenWorkers(facts)}).`;
  if (stuckAt === 'loop' && hasOnlyLeftovers(tests, facts)) return leftoversText(facts);
  const waits = stuckAt === 'loop' ? [...placesOfWaits(facts).keys()] : [];
  if (waits.length === 0) return stuckTexts[stuckAt];
  const others = waits.length > 1 ? ` and ${formatCount(waits.length - 1, 'other place')}` : '';
  return `The event loop was turning, and code of the program was suspended in ${waits[0]}${others}: what is awaited there does not come.`;
}

function leftoversText(facts: VerdictFacts): string {
  const none = 'No test was running: those that had begun had ended.';
  const keepers = keepersOf(facts);
  if (keepers.length === 0) return `${none} The event loop was turning, and waited for something.`;
  const shown = keepers.slice(0, mostKeepers).join(', ');
  const more = keepers.length > mostKeepers ? ' and more' : '';
  return `${none} What keeps the process alive: ${shown}${more}.`;
}

function nativeText({ handles }: VerdictFacts): string {
  const [child] = handles?.children ?? [];
  const what = child ? `: it waits for its child ${child.pid}, \`${foldCommand(child.command, 80)}\`` : '';
  return `The main thread sat in a synchronous call that did not return${what}.`;
}

function testEvidence(tests: TestFacts, { at }: NonNullable<TestFacts['stop']>): Evidence[] {
  const running = tests.running ?? [];
  const shown = running.slice(0, 5).map(({ name, startedAt, file }): Evidence => {
    const ranMs = startedAt && at ? Date.parse(at) - Date.parse(startedAt) : Number.NaN;
    const since = ranMs >= 0 ? ` for ${formatDuration(ranMs)}` : '';
    return {
      fact: `Not finished: “${name.join(' › ')}”${file ? ` of ${file}` : ''}, running${since}.`,
      part,
    };
  });
  const more = running.length - shown.length;
  if (more > 0) shown.push({ fact: `${formatCount(more, 'more test')} had not finished.`, part });
  if (!running.length && tests.file)
    shown.push({ fact: `The file that was being run: ${tests.file}.`, part });
  if (tests.finished)
    shown.push({ fact: `${formatCount(tests.finished, 'test')} had finished in this thread before.`, part });
  return shown;
}

/** How the runners say that a test reached its time limit. */
const reachedLimit = /\btime(?:d out|out)\b|never resolved|still pending/i;

function failed(facts: VerdictFacts, tests: TestFacts, failure: NonNullable<TestFacts['failure']>): Verdict {
  const message = onOneLine(failure.message ?? '');
  const name = testOf({ failure })?.name.join(' › ') ?? '';
  const waits = reachedLimit.test(message) ? placesOfWaits(facts) : new Map<string, Frame>();
  const isAlone = (tests.running ?? []).every((one) => one.name.join(' › ') === name);
  const [text, frame] = (waits.size === 1 && isAlone && [...waits][0]) || [];
  const place = frame && placeOf(frame, cwdOf(facts.account));
  const waited = text === undefined ? '' : ` What is awaited in ${text} had not come.`;
  return {
    kind: 'snapshot',
    title: titled(
      text === undefined
        ? `Test failed: “${name}”: ${message}`
        : `Test “${clip(name, 40)}” failed, waiting in ${text}: ${message}`,
    ),
    ...placedAt(frame),
    summary: `The test failed and the process went on. The bundle shows the moment of the failure.${waited}`,
    // What is suspended beside the test need not be what it awaits.
    confidence: text === undefined ? 'certain' : 'likely',
    evidence: [
      { fact: `${failure.errorName ?? 'Error'}: ${shorten(message, 300)}`, part },
      ...(failure.file ? [{ fact: `The test is in ${failure.file}.`, part }] : []),
      ...(waits.size > 0 ? inFlightEvidence(facts) : []),
    ],
    refutedBy:
      'The same test passing on the same code: then it is flaky, and the bundle shows one of its failures.',
    nextSteps: [
      ...(place ? [`Open ${place} and check who settles the promise that is awaited there.`] : []),
      'Read the failure’s stack, and what the agent had done until then.',
    ],
  };
}
