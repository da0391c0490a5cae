/**
 * Finds the issue of a new signature: the one of the same program, error and message whose stack differs only by frames that
 * are missing in one of them. Callers are missing if a promise was not awaited or a minifier inlined a function or removed
 * its name; additional callers appear if the same fault is reached by another path.
 */
import { mainFile, minifiedPart } from '../../analysis/signature-frames.ts';
import type { Query } from '../index/database.ts';

export interface Linked {
  /** The signature. */
  id: string;
  parts: readonly string[];
  link: string;
}

interface Known {
  id: string;
  issue: string;
  parts: string[];
  count: number;
}

/** Undefined if no issue, or none better than another, matches: it becomes an issue of its own. */
export async function findHome(query: Query, { id, parts, link }: Linked): Promise<string | undefined> {
  if (link === '') return undefined;
  const known = await query<Known>(
    `select id, issue, parts, count from agentdump_signatures
     where link = $1 and count > 0 and not exists (select from agentdump_signatures where id = $2)`,
    [link, id],
  );
  const stands = [...new Set(known.map(({ issue }) => issue))].map((issue) =>
    standFor(
      issue,
      known.filter((one) => one.issue === issue),
    ),
  );
  const named = stands.filter((one) => !isNameless(one.parts));
  // If some signatures have names, those without are not used for the decision.
  const fitting = (named.length > 0 ? named : stands).filter((one) => isSameStack(parts, one.parts));
  // One that has more of the same callers tells more than one that has few at all.
  const common = fitting.map((one) => Math.min(framesOf(parts).length, framesOf(one.parts).length));
  const best = fitting.filter((_, at) => common[at] === Math.max(...common));
  return best.length === 1 ? best[0]?.issue : undefined;
}

/** With fewer, a stack fits those of too many other faults; what comes further down only shows how it was reached. */
const tellingFrames = 2;

/** The signature that started the issue, but one with names and callers is preferred to one without. */
function standFor(issue: string, known: readonly Known[]): Known {
  const worth = (one: Known): number[] => [
    Number(!isNameless(one.parts)),
    Math.min(framesOf(one.parts).length, tellingFrames),
    Number(one.id === issue),
    one.count,
  ];
  return known.reduce((best, one) => (isMore(worth(one), worth(best)) ? one : best));
}

function isMore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

const isNameless = (parts: readonly string[]): boolean => parts.includes(minifiedPart);

/** The frames of one occur in the other, in the same order. Without names only what an error says can tell. */
export function isSameStack(a: readonly string[], b: readonly string[]): boolean {
  if (isNameless(a) || isNameless(b)) return [...a, ...b].some((part) => part.startsWith('error:'));
  const [one, other] = [framesOf(a), framesOf(b)];
  if (one.length === 0 || other.length === 0) return false;
  return isWithin(one, other) || isWithin(other, one);
}

const framesOf = (parts: readonly string[]): string[] =>
  parts.filter((part) => part.startsWith('frame:')).map((part) => part.slice('frame:'.length));

function isWithin(short: readonly string[], long: readonly string[]): boolean {
  let at = 0;
  for (const [n, frame] of long.entries()) {
    const wanted = short[at];
    if (wanted !== undefined && (isSameFrame(wanted, frame) || isInlined(wanted, frame, long[n + 1]))) at++;
  }
  return at === short.length;
}

/** A minifier put the function into its caller: the frame has the name of the caller, and the file of the function. */
function isInlined(frame: string, called: string, caller: string | undefined): boolean {
  if (caller === undefined) return false;
  const [name, file] = split(frame);
  const [, fileOfCalled] = split(called);
  const [nameOfCaller, fileOfCaller] = split(caller);
  return name === nameOfCaller && file === fileOfCalled && file !== fileOfCaller && name !== '(anonymous)';
}

const anonymous = '(anonymous)@';

const inMain = `@${mainFile}`;

/**
 * An anonymous function matches any function of its file, and a named one of the main file, which may be a bundle of all, one of
 * that name anywhere.
 */
function isSameFrame(a: string, b: string): boolean {
  if (a === b) return true;
  const [[name, file], [otherName, otherFile]] = [split(a), split(b)];
  if (a.startsWith(anonymous) || b.startsWith(anonymous)) return file === otherFile;
  return name === otherName && (a.endsWith(inMain) || b.endsWith(inMain));
}

function split(frame: string): [name: string, file: string] {
  const at = frame.lastIndexOf('@');
  return [frame.slice(0, at), frame.slice(at + 1)];
}
