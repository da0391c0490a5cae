/**
 * Finds the issue of a new signature: the one of the same program, error and message whose stack differs only by frames that
 * are missing in one of them. Callers are missing if a promise was not awaited or a minifier inlined a function or removed
 * its name; additional callers appear if the same fault is reached by another path.
 */
import { minifiedPart } from '../../analysis/signature-frames.ts';
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

/** Undefined if no issue, or more than one, matches: it becomes an issue of its own. */
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
  return fitting.length === 1 ? fitting[0]?.issue : undefined;
}

/** The signature that started the issue; one with names is preferred to one without. */
function standFor(issue: string, known: readonly Known[]): Known {
  const worth = (one: Known): number[] => [
    Number(!isNameless(one.parts)),
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

/** The frames of one occur in the other, in the same order. */
export function isSameStack(a: readonly string[], b: readonly string[]): boolean {
  if (isNameless(a) || isNameless(b)) return true;
  const [one, other] = [framesOf(a), framesOf(b)];
  if (one.length === 0 || other.length === 0) return false;
  return isWithin(one, other) || isWithin(other, one);
}

const framesOf = (parts: readonly string[]): string[] =>
  parts.filter((part) => part.startsWith('frame:')).map((part) => part.slice('frame:'.length));

function isWithin(short: readonly string[], long: readonly string[]): boolean {
  let at = 0;
  for (const frame of long) {
    const wanted = short[at];
    if (wanted !== undefined && isSameFrame(wanted, frame)) at++;
  }
  return at === short.length;
}

const anonymous = '(anonymous)@';

/** An anonymous function matches any function of its file. */
function isSameFrame(a: string, b: string): boolean {
  if (a === b) return true;
  if (!a.startsWith(anonymous) && !b.startsWith(anonymous)) return false;
  const fileOf = (frame: string) => frame.slice(frame.lastIndexOf('@') + 1);
  return fileOf(a) === fileOf(b);
}
