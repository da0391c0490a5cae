/**
 * Where a value that is no error was likely thrown, or an error that Node made; or which await passed on an error that was made elsewhere. No stack says it, so the
 * place is read from the text of the program: it is a conclusion, and said to be one.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { frameText, isOfNode, placeOf } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf, deathFrames } from '../wording.ts';

const mostNamed = 3;

export function thrownAtEvidence(facts: VerdictFacts): Evidence[] {
  if (facts.passedAt?.length && !hasPlace(facts))
    return evidence(`${passedText(facts.passedAt, facts)}${throughText(facts)}`);
  const { giving = [], passing = [], isRethrown } = hasPlace(facts) ? {} : (facts.thrownAt ?? {});
  const [only, other] = giving;
  if (isRethrown && only)
    return evidence(
      `Likely rethrown ${only.function ? 'in' : 'at'} ${nameOf(only, facts)}: it is the only code in the program’s own files that throws an error which it does not make.`,
    );
  if (isRethrown && passing.length > 0 && passing.length <= mostNamed)
    return evidence(`It may have been rethrown at ${list(passing, facts, 'or')}.`);
  if (isRethrown) return [];
  if (only && !other) return evidence(`Likely thrown in ${nameOf(only, facts)}: ${reason(passing.length)}`);
  if (only)
    return evidence(
      `The text of ${list(giving, facts)} gives such a value: which of them threw it is not recorded.`,
    );
  if (passing.length === 0 || passing.length > mostNamed) return [];
  const places = list(passing, facts, passing.length === 1 ? 'and' : 'or');
  return evidence(`No text gives such a value; it may have been passed on at ${places}.`);
}

/** `src/charge.ts:4:9`, if only one place gives the value, or only one await can have passed it on. */
export function likelyPlace(facts: VerdictFacts): string | undefined {
  const [only, other] = facts.thrownAt?.giving ?? facts.passedAt ?? [];
  if (!only || other || hasPlace(facts)) return undefined;
  const inner = facts.thrownAt?.giving ? undefined : facts.passedThrough?.at(-1);
  return placeOf(inner ?? only, cwdOf(facts.account));
}

/** The only top-level await that can have passed the error on. */
export function passedFrame(facts: VerdictFacts): Frame | undefined {
  const [only, other] = facts.passedAt ?? [];
  return only && !other && !hasPlace(facts) ? only : undefined;
}

/** The error ended the evaluation of a module, and was thrown by none of its own calls: its stack would show them. */
function passedText(frames: readonly Frame[], facts: VerdictFacts): string {
  const places = frames.slice(0, mostNamed).map((frame) => placeOf(frame, cwdOf(facts.account)));
  return frames.length === 1
    ? onlyAwaitText(places[0], facts)
    : `One of the top-level awaits passed it on: ${places.join(', ')}${frames.length > mostNamed ? ` and ${formatCount(frames.length - mostNamed, 'other')}` : ''}.`;
}

/** A package may call that function itself, so that the name is no proof. */
function onlyAwaitText(place: string | undefined, { passedBy }: VerdictFacts): string {
  return passedBy
    ? `The stack begins in ${passedBy.name} of a package. Of the ${passedBy.of} top-level awaits that were found in its modules, only the one at ${place} leads to a call of that name, so it likely passed the error on.`
    : `${place} is the only top-level await that was found in its modules, so it passed the error on.`;
}

/** The text can't tell whether the error was handed on in another way, such as by a listener. */
function throughText({ passedThrough = [], account }: VerdictFacts): string {
  if (passedThrough.length === 0) return '';
  const names = passedThrough.map((frame) => frameText(frame, cwdOf(account))).join(', then ');
  return ` Likely through the only await in ${names}.`;
}

/** A stack with a frame of the program says where it was thrown. */
const hasPlace = ({ account }: VerdictFacts): boolean =>
  deathFrames(account).some((frame) => frame.inApp && !isOfNode(frame));

function reason(passing: number): string {
  const others =
    passing === 0
      ? ''
      : ` ${formatCount(passing, 'other')} ${passing === 1 ? 'passes' : 'pass'} on a value that the text does not show.`;
  return `it is the only code in the program’s own files whose text gives such a value.${others}`;
}

function list(frames: readonly Frame[], facts: VerdictFacts, word = 'and'): string {
  const shown = frames.slice(0, mostNamed).map((frame) => nameOf(frame, facts));
  if (frames.length > mostNamed) return `${shown.join(', ')} and ${frames.length - mostNamed} more`;
  return shown.length === 1
    ? (shown[0] as string)
    : `${shown.slice(0, -1).join(', ')} ${word} ${shown.at(-1)}`;
}

const nameOf = (frame: Frame, { account }: VerdictFacts): string => frameText(frame, cwdOf(account));
const evidence = (fact: string): Evidence[] => [{ fact, part: partNames.scripts }];
