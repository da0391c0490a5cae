/**
 * Compares two stacks: frames of the same function in the same file are equal, even if their line has moved. Longest common
 * subsequence of at most `maxFrames` frames each. Pure.
 */
import type { Account } from '../../model/account.ts';
import type { DiffChange } from '../../model/diff.ts';
import { frameText, shortFile } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';

const maxFrames = 200;

export interface Stack {
  frames: readonly Frame[];
  cwd: string | undefined;
}

/** The stack of the death; undefined if there is none. */
export function stackOfDeath(account: Account): Stack | undefined {
  const frames = account.error?.frames ?? account.threads?.find((thread) => thread.crashed)?.frames;
  return frames?.length ? { frames: frames.slice(0, maxFrames), cwd: account.process?.cwd } : undefined;
}

export function compareStacks(before: Stack, after: Stack): DiffChange[] {
  const pairs = align(before.frames.map(nameIn(before)), after.frames.map(nameIn(after)));
  return pairs.flatMap(([a, b]): DiffChange[] => {
    const from = a === undefined ? undefined : frameText(before.frames[a] as Frame, before.cwd);
    const to = b === undefined ? undefined : frameText(after.frames[b] as Frame, after.cwd);
    if (from === to || (b !== undefined && a !== undefined && isOfNode(after.frames[b]))) return [];
    const subject = `frame ${(b ?? a ?? 0) + 1}`;
    if (from === undefined) return [{ section: 'frames', subject, change: 'added', after: to as string }];
    if (to === undefined) return [{ section: 'frames', subject, change: 'removed', before: from }];
    return [{ section: 'frames', subject, change: 'changed', before: from, after: to }];
  });
}

/** Lines of Node's own code only depend on Node's version, which is compared elsewhere. */
const isOfNode = (frame: Frame | undefined) => frame?.file?.startsWith('node:') === true;

const nameIn =
  ({ cwd }: Stack) =>
  (frame: Frame) =>
    `${frame.function ?? ''}\n${frame.file === undefined ? (frame.module ?? '') : shortFile(frame.file, cwd)}`;

/** Pairs of indexes in order; one of a pair is undefined if the other stack has no such frame. */
function align(a: readonly string[], b: readonly string[]): [number | undefined, number | undefined][] {
  const lengths = commonLengths(a, b);
  const pairs: [number | undefined, number | undefined][] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const below = lengths[i + 1]?.[j] ?? -1;
    const right = lengths[i]?.[j + 1] ?? -1;
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([i++, j++]);
    else if (j >= b.length || (i < a.length && below >= right)) pairs.push([i++, undefined]);
    else pairs.push([undefined, j++]);
  }
  return pairs;
}

/** `lengths[i][j]`: the length of the longest common subsequence of `a` from i on and `b` from j on. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i] as number[];
      const next = lengths[i + 1] as number[];
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  return lengths;
}
