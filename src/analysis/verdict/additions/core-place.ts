/** A step for a death of which the kernel's core remains. */
import { clip } from '../../../model/quantities.ts';
import type { Verdict } from '../../../model/verdict.ts';

/** A core file that remains contains the memory of the process unredacted. */
export function sayWhereCoreIs(verdict: Verdict, path: string | undefined): Verdict {
  if (path === undefined) return verdict;
  const step = `The kernel’s core is ${clip(path, 200)}: it holds the memory in the clear, so remove it when you are done.`;
  return { ...verdict, nextSteps: [...(verdict.nextSteps ?? []), step] };
}
