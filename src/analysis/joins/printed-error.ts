/**
 * The last error that a program printed or logged with its stack before it ended itself. Code that catches an error, prints it and
 * calls process.exit leaves no other trace of it.
 */
import type { ProcessEvents } from '../../model/account.ts';
import { readLogLine } from '../../model/process-events/log-line.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import type { FrameReader } from './error-facts.ts';

export interface PrintedError {
  /** `TypeError: no card`. */
  headline: string;
  stream: string;
  /** It is among the last lines of its stream. */
  isLast: boolean;
  frames: Frame[];
}

const mostLines = 400;
/** A message may have several lines. */
const mostMessageLines = 10;
/** The rest of what Node prints of an error, and a few words of farewell. */
const mostAfter = 12;
const frameLine = /^\s+(?:at \S|\.{3} \d+ lines? matching )/;
/** Node prints causes and members of an error indented, below it. */
const ofAnother = /^\s|^\[(?:cause|errors?)\]:/;
const named = /(?:[A-Z][\w$]*)?(?:Error|Exception)(?: \[[\w$]+\])?(?:: .*)?$/;

/** Undefined unless the program ended itself with process.exit or process.exitCode. */
export async function readPrintedError(
  { trigger, processEvents }: BundleParts,
  read: FrameReader,
): Promise<PrintedError | undefined> {
  if (trigger?.kind !== 'exit') return undefined;
  const found = findPrintedError(processEvents?.logs ?? []);
  return found && { ...found, frames: await read({ stackText: found.stackText }) };
}

/** The newest stream decides; of two with the same time standard error. */
export function findPrintedError(
  logs: NonNullable<ProcessEvents['logs']>,
): (Found & { stream: string; isLast: boolean }) | undefined {
  return logs
    .flatMap(({ stream, text, writtenAt = '' }) => {
      const found = findIn(text.split('\n').slice(-mostLines));
      return found ? [{ ...found, stream, writtenAt }] : [];
    })
    .sort((a, b) => b.writtenAt.localeCompare(a.writtenAt) || b.stream.localeCompare(a.stream))
    .map(({ writtenAt: _, ...found }) => found)[0];
}

interface Found {
  headline: string;
  stackText: string;
}

function findIn(lines: readonly string[]): (Found & { isLast: boolean }) | undefined {
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] as string;
    const { stack } = readLogLine(line) ?? {};
    const logged = stack === undefined ? undefined : lastStackOf(stack.split('\n'));
    if (logged) return { ...logged, isLast: isEnd(lines, at) };
    if (frameLine.test(line)) {
      let first = at;
      while (first > 0 && frameLine.test(lines[first - 1] as string)) first--;
      const found = stackFrom(lines, first, at);
      if (found) return { ...found, isLast: isEnd(lines, at) };
      at = first;
    }
  }
  return undefined;
}

const isEnd = (lines: readonly string[], at: number): boolean =>
  lines.slice(at + 1).filter((line) => line.trim() !== '').length <= mostAfter;

/** A chain of causes in one text has the error itself first. */
function lastStackOf(lines: readonly string[]): Found | undefined {
  const first = lines.findIndex((line) => frameLine.test(line));
  if (first < 1) return undefined;
  const end = lines.findIndex((line, at) => at > first && !frameLine.test(line));
  return stackFrom(lines, first, end === -1 ? lines.length - 1 : end - 1);
}

function stackFrom(lines: readonly string[], first: number, last: number): Found | undefined {
  const least = Math.max(0, first - mostMessageLines);
  for (let at = first - 1; at >= least && !frameLine.test(lines[at] as string); at--) {
    const line = lines[at] as string;
    const [headline] = named.exec(line.trim()) ?? [];
    if (headline === undefined) continue;
    if (ofAnother.test(line)) return undefined;
    return { headline, stackText: [headline, ...lines.slice(first, last + 1)].join('\n') };
  }
  return undefined;
}
