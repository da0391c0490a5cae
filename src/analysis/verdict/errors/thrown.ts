/**
 * Shared by verdicts on thrown values: evidence from the error itself, and next steps for the errors that such programs most
 * often die of.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentAbort } from '../../../model/agent-state.ts';
import { shorten } from '../../../model/errors/message-text.ts';
import { culpritFrame, frameText, isOfNode, isOfRuntime, placeOf } from '../../../model/frame-text.ts';
import { formatCount, formatDuration, formatNumber } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { StartedCalls } from '../../joins/started-calls.ts';
import type { VerdictFacts } from '../facts.ts';
import { inFlightEvidence } from '../in-flight.ts';
import { cwdOf, deathFrames, everyError, headlineOf, rootCause } from '../wording.ts';
import { abortEvidence, abortFrame, abortPlace, abortReasonEvidence } from './aborted.ts';
import { abortAdvice, adviceFor, closedByReader } from './advice.ts';
import { beganEvidence, beganPlace, isMadeOfTimeLimit, likelyCall } from './begun.ts';
import { onDemandFailure } from './load-failure.ts';
import { newerNodeStep } from './newer-node.ts';
import { likelyPlace, passedFrame, thrownAtEvidence } from './thrown-at.ts';

const mostTimeLimits = 3;
const mostMembers = 4;

/** The error, where it was thrown, and its cause. */
export function thrownEvidence(facts: VerdictFacts): Evidence[] {
  const { error } = facts.account;
  if (!error) return [];
  const evidence: Evidence[] = [{ fact: shorten(headlineOf(error, facts), 400), part: 'error.json' }];
  const frames = deathFrames(facts.account);
  const culprit = culpritFrame(frames);
  // An aggregate without a stack uses the frames of its first member, which is listed below.
  const isKnownBetter = culprit && isOfNode(culprit) && likelyPlace(facts) !== undefined;
  if (culprit && !isKnownBetter && (error.frames?.length || !error.errors?.length))
    evidence.push({
      fact: `${whereThrown(culprit, facts)}${isOriginUnknown(facts, frames) ? unknownOrigin : ''}`,
      part: 'error.json',
    });
  evidence.push(
    ...thrownAtEvidence(facts),
    ...beganEvidence(facts),
    ...ownKillEvidence(facts),
    ...emitterEvidence(facts),
    ...failedStdioEvidence(facts),
    ...timeLimitEvidence(facts),
    ...startedCallEvidence(facts),
    ...abortEvidence(facts),
    ...abortReasonEvidence(facts),
  );
  const unloaded = onDemandFailure(facts);
  for (const fact of unloaded?.facts ?? [])
    if (!evidence.some((known) => known.fact === fact)) evidence.push({ fact, part: 'error.json' });
  if (unloaded) evidence.push(atWorkEvidence(facts));
  const root = rootCause(error);
  if (root !== error) {
    evidence.push({ fact: `Caused by ${rootText(root, facts)}.`, part: 'error.json' });
    evidence.push(...memberEvidence(root.errors ?? [], facts));
  }
  evidence.push(...memberEvidence(error.errors ?? [], facts));
  return [...evidence, ...inFlightEvidence(facts)];
}

const unknownOrigin =
  ' The stack has no frame of the program, and where the program began what failed is not known.';

/** True if the whole stack is Node's and nothing else shows where the operation started. */
function isOriginUnknown(facts: VerdictFacts, frames: readonly Frame[]): boolean {
  const places = [
    beganPlace(facts),
    abortPlace(facts),
    likelyPlace(facts),
    facts.workerStarts?.[0],
    facts.startedCalls,
  ];
  return frames.every(isOfRuntime) && places.every((place) => place === undefined);
}

/** Any error in an aggregate may be the one to fix. */
function memberEvidence(errors: readonly ErrorFacts[], facts: VerdictFacts): Evidence[] {
  if (errors.length === 0) return [];
  const shown = errors.slice(0, mostMembers).map((one, at) => `(${at + 1}) ${rootText(one, facts)}`);
  const more = errors.length - shown.length;
  const fact = `It contains ${formatCount(errors.length, 'error')}: ${shown.join('; ')}${more > 0 ? `; and ${formatNumber(more)} more` : ''}.`;
  return [{ fact, part: 'error.json' }];
}

function atWorkEvidence({ trigger, account }: VerdictFacts): Evidence {
  if (trigger?.phase === undefined)
    return {
      fact: `It failed ${formatDuration(account.process?.uptimeMs ?? 0)} after the start.`,
      part: 'process.json',
    };
  return {
    fact: 'The program was at work: its main module had ended, it held something open, or work of an agent or a request had been seen.',
    part: 'trigger.json',
  };
}

/** If there are several calls, which one fired is not recorded. */
function timeLimitEvidence(facts: VerdictFacts): Evidence[] {
  const places = timeLimitPlaces(facts);
  if (places.length === 0) return [];
  const where = places.slice(0, mostTimeLimits).join(', ');
  const fact =
    places.length === 1
      ? `AbortSignal.timeout is called at ${where}; no other call of it was found in the program's files.`
      : `AbortSignal.timeout is called at ${where}${places.length > mostTimeLimits ? ' and elsewhere' : ''}: which of these time limits it was is not recorded.`;
  return [{ fact, part: 'scripts.json' }];
}

/** The error says what failed, and not for whom. */
function startedCallEvidence({ startedCalls, account }: VerdictFacts): Evidence[] {
  if (!startedCalls) return [];
  const { names, frames, unawaited } = startedCalls;
  const places = frames.map((frame) => placeOf(frame, cwdOf(account)));
  const [only, other] = places;
  const where = places.slice(0, mostTimeLimits).join(', ');
  if (unawaited) return [{ fact: unawaitedText(startedCalls, unawaited, places), part: 'scripts.json' }];
  const fact =
    other === undefined
      ? `${names[0]} is called at ${only}; no other call that can have failed so was found in the program's own files. Packages were not searched.`
      : `The program's own files call ${names.join(', ')} at ${where}${places.length > mostTimeLimits ? ' and elsewhere' : ''}: which of these calls failed is not recorded.`;
  return [{ fact, part: 'scripts.json' }];
}

/** That nothing awaits them is seen in the text; that one of them failed is likely, since a package may call its functions itself. */
function unawaitedText(
  { names }: StartedCalls,
  { packageName, byName }: NonNullable<StartedCalls['unawaited']>,
  places: readonly (string | undefined)[],
): string {
  const where = places.slice(0, mostTimeLimits).join(', ');
  const begins = byName
    ? `The stack begins in ${names[0]} of ${packageName}`
    : `The stack begins in ${packageName}`;
  const which = byName ? `${names[0]} is called` : `what it has made is used (${names.join(', ')})`;
  return places.length === 1
    ? `${begins}; ${which} at ${where}, and nothing awaits or catches what that returns. No other such call was found in the program's own files.`
    : `${begins}; ${which} at ${where}${places.length > mostTimeLimits ? ' and elsewhere' : ''}, and nothing awaits or catches what that returns: which of these calls failed is not recorded.`;
}

function timeLimitPlaces({ timeLimits = [], account }: VerdictFacts): string[] {
  return timeLimits.map((frame) => placeOf(frame, cwdOf(account))).filter((place) => place !== undefined);
}

/** `killed` of an error of exec and execFile: Node sets it if this process sent the signal. */
function ownKillEvidence({ account }: VerdictFacts): Evidence[] {
  const { cmd, killed, signal } = account.error?.properties ?? {};
  if (typeof cmd !== 'string' || killed !== true || typeof signal !== 'string') return [];
  const why = account.error?.code === undefined ? ', such as by its time limit' : '';
  return [{ fact: `The program itself ended the command with ${signal}${why}.`, part: 'error.json' }];
}

/** The error was emitted as an event without a listener. */
export function emitterEvidence({ account, emitter }: VerdictFacts): Evidence[] {
  if (!emitter) return [];
  const culprit = culpritFrame(emitter.frames);
  const place = culprit?.inApp ? ` in ${frameText(culprit, cwdOf(account))}` : '';
  const file = emitter.path === undefined ? '' : ` of ${emitter.path}`;
  const stream = stdioName(emitter.stdio) ?? withArticle(emitter.className);
  const fact = `It was emitted as an error event on ${stream}${file}${place}, which had no error listener.`;
  return [{ fact, part: 'error.json' }];
}

/** The stream whose error was probably handed on. */
function failedStdioEvidence({ failedStdio, emitter, account: { error } }: VerdictFacts): Evidence[] {
  const stream = emitter ? undefined : stdioName(failedStdio);
  const fact = `The last write to ${stream} failed with ${error?.code}, so it is likely the stream that broke.`;
  return stream ? [{ fact, part: 'error.json' }] : [];
}

/** `process.stdout` */
export function stdioName(descriptor: number | undefined): string | undefined {
  const name = ['stdin', 'stdout', 'stderr'][descriptor ?? -1];
  return name && `process.${name}`;
}

const withArticle = (name: string): string => `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`;

/** ` Root cause: TypeError: … at src/plan.ts:4:2.`, or empty if the error has no cause. */
export function rootSentence(facts: VerdictFacts): string {
  const { error } = facts.account;
  const root = error && rootCause(error);
  const first = error?.errors?.[0];
  const unloaded = onDemandFailure(facts)
    ? ' A module that was asked for while the program was at work could not be loaded.'
    : '';
  if (first)
    return ` It contains ${formatCount(error?.errors?.length ?? 1, 'error')}, the first: ${rootText(first, facts)}.`;
  const [member] = (root !== error && root?.errors) || [];
  const inside = member
    ? ` It contains ${formatCount(root?.errors?.length ?? 1, 'error')}, the first: ${rootText(member, facts)}.`
    : '';
  return `${root && root !== error ? ` Root cause: ${rootText(root, facts)}.${inside}` : ''}${unloaded}`;
}

function rootText(root: ErrorFacts, { account }: VerdictFacts): string {
  // A cause may be any value.
  const text = root.name === undefined && root.stackText === undefined ? root.message : headlineOf(root);
  const said = shorten((text ?? 'a value').replace(/\.$/, ''), 300);
  const aborts = abortsFor(root, account);
  if (aborts.length > 0) {
    const places = new Set(aborts.map(({ frames = [] }) => placeOfCulprit(frames, cwdOf(account))));
    const [where] = places;
    if (where === undefined || places.size > 1) return said;
    const what = root.name === 'AbortError' ? 'of the abort()' : 'the reason that abort() was given';
    return `${said}, ${what} at ${where}`;
  }
  const culprit = culpritFrame(root.frames);
  const isKnown = culprit && !isOfNode(culprit) && !(culprit.async && isOfFetch(root.frames?.[0]));
  const place = isKnown ? placeOf(culprit, cwdOf(account)) : undefined;
  return `${said}${place ? ` at ${place}` : ''}`;
}

/** Node gives any error a new stack there, so that whoever awaits the fetch is not where the error comes from. */
const isOfFetch = (frame: Frame | undefined): boolean => frame?.file === 'node:internal/deps/undici/undici';

/**
 * The aborts whose reason this may be; several can have one of the same words. Node gives the reason a new stack where a fetch
 * rejects with it, which is not where it comes from.
 */
function abortsFor({ name, message }: ErrorFacts, { agent }: VerdictFacts['account']): AgentAbort[] {
  if (message === undefined) return [];
  return (agent?.aborts ?? []).filter(({ error }) => error?.type === name && error?.message === message);
}

function whereThrown(culprit: Frame, { account, emitter }: VerdictFacts): string {
  const frames = deathFrames(account);
  const cwd = cwdOf(account);
  const place = frameText(culprit, cwd);
  const first = frames.find((frame) => frame.function !== 'new DOMException') ?? culprit;
  const [did, Did] = emitter || isOnlyMade(first) ? ['created', 'Created'] : ['thrown', 'Thrown'];
  if (culprit === first) return `${Did} in ${place}.`;
  const top = frameText(first, cwd);
  return culprit.inApp
    ? `Called from ${place}, ${did} below it in ${top}.`
    : `${Did} in ${top}, called from ${place}; the stack has no frame of the program's own code.`;
}

/**
 * V8 takes the stack where an error is made, wherever it is thrown or handed to afterwards: `done(new Error(…))`. Only a throw statement
 * that the expression belongs to shows that it is thrown there.
 */
function isOnlyMade({ source = [], line = 0, column = 0 }: Frame): boolean {
  const { text = '', startColumn = 1 } = source.find((one) => one.line === line) ?? {};
  const at = Math.max(column - startColumn, 0);
  const above = startColumn > 1 ? [] : source.filter((one) => one.line < line).map((one) => one.text);
  return madeHere.test(text.slice(at)) && !thrownHere.test([...above, text.slice(0, at)].join('\n'));
}

const madeHere = /^(?:new\s+[\w$.]+|(?:[A-Z]\w*)?Error\()/;

/**
 * `throw`, and what an expression has before a part of it, as in `throw wrap(` and `throw known ??`: no text, comment, block or arrow. A
 * line may end where the expression must go on; elsewhere its end may be that of the statement.
 */
const thrownHere =
  /(?:^|[\s;{}():])throw(?:[ \t]+|(?=\())(?:[\w$.()!?:&|,<>[\] \t]|=(?!>)|(?<=[(?:,|&][ \t]*)\n|\n(?=[ \t]*[?:|&]))*$/;

const outputStep = (stream: string): string =>
  `Whoever read ${stream} had closed it, as \`head\` does when it has enough: treat EPIPE of ${stream} as the end of the output.`;

function timeLimitStep(facts: VerdictFacts): string | undefined {
  const [place, other] = timeLimitPlaces(facts);
  return place && !other
    ? `The call was aborted by a time limit: look at AbortSignal.timeout at ${place}.`
    : undefined;
}

/** Next steps: where to look, what the errors suggest, and how to record more next time. */
export function thrownNextSteps(facts: VerdictFacts): string[] {
  const { account } = facts;
  const steps: string[] = [];
  const frames = deathFrames(account);
  const began = beganPlace(facts);
  const aborter = abortFrame(facts);
  const limit = isMadeOfTimeLimit(facts) ? likelyCall(facts) : undefined;
  const at = limit ?? aborter;
  const place = began ?? placeOfCulprit(at ? [at] : frames, cwdOf(account));
  const isModelCalls = hasFailedModelCall(facts);
  const why =
    began !== undefined
      ? ', where what failed was begun'
      : limit
        ? ', where the time limit is set'
        : aborter && isModelCalls
          ? ', where abort() was called'
          : '';
  if (place && (began !== undefined || !passedFrame(facts))) steps.push(`Open ${place}${why}.`);
  const likely = likelyPlace(facts);
  if (likely !== undefined && began === undefined)
    steps.push(
      `Open ${likely}, ${facts.passedThrough?.length || facts.passedBy ? 'whose await likely passed it on' : passedFrame(facts) ? 'whose await passed it on' : 'which likely threw it'}.`,
    );
  const call = facts.startedCalls && likelyCall(facts);
  if (call) steps.push(`Open ${placeOf(call, cwdOf(account))}, which likely started what failed.`);
  for (const step of onDemandFailure(facts)?.steps ?? []) if (!steps.includes(step)) steps.push(step);
  const root = account.error && rootCause(account.error);
  const hasCause = root !== undefined && root !== account.error && abortsFor(root, account).length === 0;
  const rootPlace = hasCause ? placeOfCulprit(root.frames ?? [], cwdOf(account)) : undefined;
  if (rootPlace && rootPlace !== place) steps.push(`Then ${rootPlace}, where the first cause was thrown.`);
  const abortedAt = abortPlace(facts);
  // The failure of a model call has a step of its own.
  const abortStep =
    abortedAt &&
    !isModelCalls &&
    `${abortedAt === place ? 'There' : `At ${abortedAt}`} abort() was called: catch the error where the call is awaited.`;
  const broken = stdioName(facts.emitter ? facts.emitter.stdio : facts.failedStdio);
  for (const error of everyError(account.error)) {
    const newer = newerNodeStep(error, account.process?.nodeVersion);
    if (newer !== undefined) {
      if (!steps.includes(newer)) steps.push(newer);
      if (!newer.startsWith('If ')) continue;
    }
    const found = adviceFor(error);
    const isTold = found === closedByReader && broken !== undefined;
    const advice = isTold ? outputStep(broken) : found?.isOfService && isModelCalls ? undefined : found?.step;
    const step = advice === abortAdvice ? (timeLimitStep(facts) ?? abortStep ?? advice) : advice;
    if (step && !steps.includes(step)) steps.push(step);
  }
  if (abortStep && !steps.includes(abortStep)) steps.push(abortStep);
  if (facts.emitter)
    steps.push(
      `Give that ${facts.emitter.className} an error listener, so that its errors don’t end the program.`,
    );
  if (facts.thrownType !== undefined) {
    const how = facts.trigger?.kind === 'unhandled-rejection' ? 'Reject with' : 'Throw';
    steps.push(`${how} an Error: only errors carry the stack that says where they come from.`);
  }
  const wereAsked = account.gaps.some(({ part }) => part === partNames.locals);
  // A worker that ended without an error threw nothing.
  const isThrown = facts.trigger?.kind !== 'worker-death' || account.error !== undefined;
  if (isThrown && !wereAsked && (!steps.length || (frames.length && !frames.some((f) => f.locals?.length))))
    steps.push(
      'To see the variables of each frame next time, set AGENTDUMP_LOCALS=uncaught in a test or CI.',
    );
  return steps.slice(0, 6);
}

/** A model call caused the death, and its failure has its own next step. */
function hasFailedModelCall({ account: { agent } }: VerdictFacts): boolean {
  const [failure] = agent?.failures ?? [];
  const isCall = agent?.runs.some(({ modelCalls }) => modelCalls.some(({ id }) => id === failure?.callId));
  return failure?.isCauseOfDeath === true && failure.nextStep !== undefined && isCall === true;
}

function placeOfCulprit(frames: Frame[], cwd: string | undefined): string | undefined {
  const culprit = culpritFrame(frames);
  // A place in Node's own code doesn't help.
  return culprit && !isOfNode(culprit) ? placeOf(culprit, cwd) : undefined;
}
