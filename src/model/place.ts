/** Selects the frame whose code is shown first. */
import type { Account } from './account.ts';
import { culpritFrame } from './frame-text.ts';
import type { Frame } from './thread.ts';
import type { VerdictPlace } from './verdict.ts';

/** The frame with code at the verdict's place; otherwise one of the error or of the thread that died. */
export function findPlace({
  error,
  threads = [],
  verdict,
  suspended = [],
  agent,
}: Account): Frame | undefined {
  const crashed = threads.find((thread) => thread.crashed && !thread.frames.some(({ address }) => address));
  const frames = [error?.frames, error?.errors?.[0]?.frames, crashed?.frames];
  const likely =
    error?.likelyThrown?.length === 1 && !frames[0]?.some(({ inApp }) => inApp)
      ? error.likelyThrown
      : undefined;
  const places = [likely, ...frames]
    .map((list) => culpritFrame(list))
    .filter((frame) => frame?.source?.length);
  const all = [
    ...frames,
    error?.begun?.frames,
    error?.likelyThrown,
    ...threads.map((one) => one.frames),
    ...suspended.map((one) => one.frames),
    ...(agent?.aborts ?? []).map((one) => one.frames),
  ];
  const named = all
    .flatMap((list) => list ?? [])
    .find((frame) => frame.source?.length && isAt(frame, verdict?.place));
  return named ?? places.find((frame) => frame?.inApp) ?? places[0];
}

const isAt = ({ file, line, column }: Frame, place: VerdictPlace | undefined): boolean =>
  place !== undefined && file === place.file && line === place.line && column === place.column;
