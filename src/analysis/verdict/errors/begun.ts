/**
 * Where the program started an operation that failed inside Node's own code. Reported only if the error's own stack has no
 * frame of the program. The recorder finds the place by the error object, or by the object that emitted it.
 */
import { culpritFrame, frameText, isOfNode, isOfRuntime, placeOf } from '../../../model/frame-text.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf, deathFrames } from '../wording.ts';
import { passedFrame } from './thrown-at.ts';

type Facts = Pick<VerdictFacts, 'account'>;

/**
 * The frame that started the operation: the program's, or a package's if no frame of the program was recorded and the error's own
 * has nothing but Node's frames. Undefined if the error's own stack has a frame of the program.
 */
export function beganFrame({ account }: Facts): Frame | undefined {
  const frames = deathFrames(account);
  if (frames.some(({ inApp }) => inApp)) return undefined;
  const culprit = culpritFrame(account.error?.begun?.frames);
  if (!culprit || isOfNode(culprit)) return undefined;
  return culprit.inApp || frames.every(isOfRuntime) ? culprit : undefined;
}

export function beganEvidence(facts: Facts): Evidence[] {
  const { begun } = facts.account.error ?? {};
  const frame = beganFrame(facts);
  if (!begun || !frame) return [];
  const cwd = cwdOf(facts.account);
  const callers = begun.frames.filter((one) => one.inApp && one !== frame).map((one) => frameText(one, cwd));
  const calledFrom = callers.length ? `, called from ${callers.slice(0, 2).join(' and ')}` : '';
  const asked = frame.inApp ? '' : '; no frame of the program is on the recorded stack';
  return [
    {
      fact: `What failed is the ${begun.what}, begun ${inText(frame, cwd)}${calledFrom}${asked}.`,
      part: 'error.json',
    },
  ];
}

/** `The request GET 10.0.0.7/prices that failed was begun in getJson (src/prices.ts:3:9). `, or empty. */
export function beganSentence(facts: Facts): string {
  const frame = beganFrame(facts);
  const what = facts.account.error?.begun?.what;
  return frame ? `The ${what} that failed was begun ${inText(frame, cwdOf(facts.account))}. ` : '';
}

/**
 * The only place in the program's files that sets a time limit, for an error of a time limit on whose stack the program only awaits; otherwise
 * the only one that starts what failed, if the stack has no frame of the program. A package may have done so too.
 */
export function likelyCall({
  account,
  timeLimits = [],
  startedCalls,
}: Pick<VerdictFacts, 'account' | 'timeLimits' | 'startedCalls'>): Frame | undefined {
  const [only, other] = timeLimits.length ? timeLimits : (startedCalls?.frames ?? []);
  const isOwn = ({ inApp, async }: Frame): boolean => inApp && !(async && timeLimits.length > 0);
  return other || deathFrames(account).some(isOwn) ? undefined : only;
}

/** The error of a client that makes one of its own of an abort, which a time limit caused. */
export const isMadeOfTimeLimit = ({ account: { error }, timeLimits = [] }: VerdictFacts): boolean =>
  timeLimits.length > 0 &&
  error?.name !== 'TimeoutError' &&
  /abort/i.test(`${error?.name} ${error?.message}`);

/** Where to look: the only await of the program that passed the error on says more than the place in a package that began it. */
export function beganPlaceFrame(facts: VerdictFacts): Frame | undefined {
  const frame = beganFrame(facts);
  return frame?.inApp ? frame : frame && (passedFrame(facts) ? undefined : frame);
}

export function beganPlace(facts: VerdictFacts): string | undefined {
  const frame = beganPlaceFrame(facts);
  return frame && placeOf(frame, cwdOf(facts.account));
}

const inText = (frame: Frame, cwd: string | undefined): string =>
  `${frame.function ? 'in' : 'at'} ${frameText(frame, cwd)}`;
