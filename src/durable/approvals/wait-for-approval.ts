/**
 * A question that the program asks a person: finds the recorded question that it corresponds to, if any, and decides whether
 * its answer may be used.
 */
import { AgentdumpError } from '../../errors.ts';
import type { Answer, Awaits, Signal } from '../records/layout.ts';
import { hashOf } from '../records/values.ts';
import type { ApprovalEntry } from '../runs/log-entries.ts';
import { Place, type ScopedRun } from '../runs/scoped-run.ts';
import type { CallPosition } from '../steps/call-position.ts';
import { isOnMainLine as isOnMainLineNow } from '../steps/captured/main-line.ts';
import { changed } from '../steps/claim.ts';
import { performStep } from '../steps/durable-step.ts';
import { joinPath, labelOf, lastLabel, readLabel, scopeOf, wordOf } from '../steps/step-path.ts';
import { ambiguous, areInSequence } from '../steps/told-apart.ts';
import { latestMs } from '../stores/due-time.ts';
import { type ApprovalOptions, waitForAnswer } from './approval.ts';
import { never } from './open-waits.ts';

export interface ApprovalWish {
  /** Notifies people. Runs as a step, so it is called once per question. */
  notify?: (request: unknown, approval: { run: string; name: string }) => unknown;
  signal?: AbortSignal;
}

export interface SignalWish {
  /** If no signal arrives within this time, the result is undefined. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface SleepWish {
  signal?: AbortSignal;
}

/** Asked once, whichever process runs it; answered by `agentdump approve` or `reject`. */
export async function waitForApproval(
  place: Place,
  name: string,
  request: unknown,
  { notify, signal }: ApprovalWish,
): Promise<Answer> {
  const call = { name, word: wordOf('step', name), request, signal };
  return (await waitFor(place, { ...call, what: `approval ${name}`, notify })) as Answer;
}

/** Undefined if none arrived in time. */
export async function waitForSignal(
  place: Place,
  name: string,
  { timeoutMs, signal }: SignalWish,
): Promise<Signal | undefined> {
  const awaits: Awaits = {
    signal: name,
    ...(timeoutMs !== undefined && untilOf(timeoutMs, `signal ${name}`)),
  };
  const call = { name, word: wordOf('signal', name), awaits, signal };
  return (await waitFor(place, { ...call, what: `signal ${name}` })) as Signal | undefined;
}

/** The time counts from the first process that got here. */
export async function sleepUntil(
  place: Place,
  name: string,
  until: number | Date,
  { signal }: SleepWish,
): Promise<void> {
  const untilMs = typeof until === 'number' ? Date.now() + until : until.getTime();
  if (!(Math.abs(untilMs) <= latestMs))
    throw new AgentdumpError('usage', `sleep ${name} wants milliseconds or a Date`, { argument: 'until' });
  const call = { name, word: wordOf('sleep', name), awaits: { untilMs }, signal };
  await waitFor(place, { ...call, what: `sleep ${name}` });
}

/** Infinity: no limit. Throws `usage` for a value that no Date can hold. */
function untilOf(timeoutMs: number, what: string): Awaits {
  if (timeoutMs === Number.POSITIVE_INFINITY) return {};
  const untilMs = Date.now() + timeoutMs;
  if (Math.abs(untilMs) <= latestMs) return { untilMs };
  throw new AgentdumpError('usage', `${what} wants a timeoutMs of milliseconds`, { argument: 'timeoutMs' });
}

interface WaitCall {
  name: string;
  word: string;
  /** For messages. */
  what: string;
  request?: unknown;
  awaits?: Awaits;
  notify?: ApprovalWish['notify'];
  begin?: ApprovalOptions['begin'];
  signal?: AbortSignal | undefined;
}

/** An answer applies to the request that was shown: a different request is a different question. */
export async function waitFor(
  place: Place,
  { word, what, request, awaits, notify, begin, name, signal }: WaitCall,
): Promise<unknown> {
  const { scoped, position } = place;
  const { run, scope } = scoped;
  if (run.waits.isRested || scoped.isLeft || run.refused.addCall(place)) return never();
  run.recorder.requireWhole();
  run.requireRunning();
  const isOnMainLine = request !== undefined && position.isRaw && scope.open === 0 && isOnMainLineNow();
  const wanted = { word, input: hashOf(request), position, isOnMainLine };
  const asked = claimQuestion(scoped, wanted);
  // Here, before the call has a position, because a resume finds no record of a refused one.
  if (!asked) run.codec.requireStorable(request);
  // A child run that was started is not replaced by another one.
  const again = asked === undefined && awaits?.run === undefined ? supersede(scoped, wanted) : undefined;
  const path = (asked ?? again)?.path ?? joinPath(scoped.path, newLabel(scoped, wanted.word));
  const mark = markOf(path);
  place.moveBehind({ text: mark });
  scope.open++;
  try {
    if (asked) run.order.noteStart();
    else await run.order.through(path, what);
    if (scoped.isLeft) return never();
    const tell: ApprovalOptions['tell'] = (id) =>
      notify &&
      performStep(new Place(scoped, { text: mark }), {
        kind: 'step',
        name: `notify ${name}`,
        key: id,
        input: undefined,
        options: {},
        work: () => (signal?.aborted ? undefined : notify(request, { run: run.id, name: path })),
      });
    const question = { path, request, position, isOnMainLine, asked, awaits };
    const answered = await waitForAnswer(run, question, { tell, begin, signal });
    await (asked?.readAnswer ? run.order.turnOf(asked.answerSeq) : run.order.giveNew(path, answered.ticket));
    if (asked) asked.held = undefined;
    if (scoped.isLeft) return never();
    if ('error' in answered) throw answered.error;
    return answered.answer;
  } finally {
    scope.open--;
  }
}

interface WantedQuestion {
  word: string;
  input: string | undefined;
  position: CallPosition;
  isOnMainLine: boolean;
}

/** The `after` label of calls that follow a question. A step of the same name has a different label. */
const markOf = (path: string): string => `approval:${lastLabel(path)}`;

function newLabel({ scope, path, run }: ScopedRun, word: string): string {
  for (;;) {
    const label = labelOf(word, scope.nextOrdinal(`approval ${word}`), undefined);
    if (!run.log.approvals.has(joinPath(path, label))) return label;
  }
}

/** A signal, a sleep or a child run has a prefix. */
function kindOf(word: string): [string, string] {
  const [kind = '', ...name] = word.split(':');
  return name.length === 0 ? ['approval', word] : [kind, name.join(':')];
}

/** The recorded question with exactly this request, preferably at the same position. */
function claimQuestion(scoped: ScopedRun, wanted: WantedQuestion): ApprovalEntry | undefined {
  const alike = openQuestions(scoped, wanted.word).filter(
    // Older records have no hash; the order decides, as it did in the release that wrote them.
    ({ input, position }) => position === undefined || input === wanted.input,
  );
  const here = alike.filter((entry) => isAt(entry, wanted.position));
  const nameless = here.filter(({ position, input }) => position?.isRaw && input === undefined);
  const { isStrict, order } = scoped.run;
  const before = claimedBefore(scoped, wanted);
  const [last] = nameless.length > 0 ? before.slice(-1) : [];
  const isNext = last && order.isLedBy(last);
  const isUnclear = before.some(({ held }) => held) || !areInSequence(inOrder(nameless)) || isNext === false;
  if (isStrict && isUnclear) throw scoped.run.breakWith(ambiguous(...kindOf(wanted.word), scoped.path));
  const found = here[0] ?? (wanted.input === undefined && isStrict ? undefined : alike[0]);
  if (found) found.isClaimed = true;
  if (isStrict && found?.readAnswer && nameless[0] === found && !isNext)
    found.held = nameless.length > 1 ? 'several' : 'only';
  return found;
}

/** The calls that were made before, and that only time distinguishes from this one. */
function claimedBefore({ run, path }: ScopedRun, { word, input, position }: WantedQuestion): ApprovalEntry[] {
  if (input !== undefined) return [];
  return [...run.log.approvals.values()].filter(
    (entry) =>
      entry.isClaimed &&
      entry.input === undefined &&
      entry.position?.isRaw &&
      scopeOf(entry.path) === path &&
      readLabel(entry.path).word === word &&
      isAt(entry, position),
  );
}

const inOrder = (questions: readonly ApprovalEntry[]) =>
  questions.map(({ seq, answerSeq }) => ({ seq, endSeq: answerSeq }));

/**
 * The question that this one replaces: the only one at this position, with a different request. The program asks again, and
 * the old answer is discarded. Throws `changed` if the program has already acted on that answer.
 */
function supersede(scoped: ScopedRun, wanted: WantedQuestion): ApprovalEntry | undefined {
  const { run, scope } = scoped;
  const here = openQuestions(scoped, wanted.word).filter(
    ({ position }) => position && isAt({ position }, wanted.position),
  );
  const [old] = here;
  if (!old || here.length > 1) return undefined;
  // Where only time determines the order, it may be the question of a branch that comes later.
  const isTold = old.isOnMainLine === true && wanted.isOnMainLine;
  if (old.position?.isRaw && wanted.position.isRaw && !isTold) return undefined;
  const mark = markOf(old.path);
  const behind = scope.recorded?.entries.filter(({ position }) => position?.after === mark) ?? [];
  const [goneOn] = behind.filter(({ key }) => key !== old.id);
  if (goneOn && run.isStrict)
    throw run.breakWith(changed(scope, [`approval ${wanted.word} with another request`], goneOn));
  old.isClaimed = true;
  for (const notice of behind) notice.isClaimed = true;
  run.order.drop((path) => path === old.path || behind.some((notice) => notice.path === path));
  return old;
}

function openQuestions({ run, path }: ScopedRun, word: string): ApprovalEntry[] {
  return [...run.log.approvals.values()].filter(
    (entry) => !entry.isClaimed && scopeOf(entry.path) === path && readLabel(entry.path).word === word,
  );
}

function isAt({ position }: { position: CallPosition | undefined }, at: CallPosition): boolean {
  return position === undefined || (position.after === at.after && position.isSync === at.isSync);
}
