/**
 * The result of a heap walk as a note of a mini core, which doesn't contain the heap. A note from a file is validated when it
 * is read.
 */
import { OWN_HEAP_SURVEY, OWN_NOTE } from '../../../formats/elf-core/layout.ts';
import { buildNote } from '../../../formats/elf-core/write-core.ts';
import type { HandleFacts, MemoryFacts, SuspendedStack } from '../../../model/account.ts';
import type { Gap } from '../../../model/verdict.ts';
import type { CoreDump } from '../core-dump.ts';

export interface SurveyRecord {
  suspended: SuspendedStack[];
  classes: NonNullable<MemoryFacts['classes']>;
  timers?: HandleFacts[];
  /** What the walk missed; absent if nothing. */
  gaps?: Gap[];
}

/** The part that the walk's gaps name. */
export const surveyPart = 'heap of the core';

export function buildSurveyNote(survey: SurveyRecord): Buffer {
  return buildNote(OWN_NOTE, OWN_HEAP_SURVEY, Buffer.from(JSON.stringify(survey)));
}

/** Undefined if the core has no such note, or a torn one. */
export function findSurveyNote({ core }: CoreDump): SurveyRecord | undefined {
  const bytes = core.own.get(OWN_HEAP_SURVEY);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isSurvey(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSurvey(value: unknown): value is SurveyRecord {
  const survey = value as SurveyRecord | null;
  return (
    Array.isArray(survey?.suspended) &&
    survey.suspended.every((s) => typeof s?.count === 'number' && isFrameList(s.frames)) &&
    Array.isArray(survey.classes) &&
    survey.classes.every((c) => typeof c?.name === 'string' && typeof c.count === 'number') &&
    (survey.timers === undefined || isTimerList(survey.timers)) &&
    (survey.gaps === undefined || isGapList(survey.gaps))
  );
}

function isTimerList(timers: unknown): boolean {
  const isTimer = (t: HandleFacts | null) => typeof t?.kind === 'string' && typeof t.count === 'number';
  return Array.isArray(timers) && timers.every(isTimer);
}

function isGapList(gaps: unknown): boolean {
  return Array.isArray(gaps) && gaps.every((g) => g?.part === surveyPart && typeof g.reason === 'string');
}

function isFrameList(frames: unknown): boolean {
  return (
    Array.isArray(frames) &&
    frames.every((f) => f !== null && typeof f === 'object' && (f.locals === undefined || isLocals(f.locals)))
  );
}

function isLocals(locals: unknown): boolean {
  return (
    Array.isArray(locals) && locals.every((l) => typeof l?.name === 'string' && typeof l.value === 'string')
  );
}
