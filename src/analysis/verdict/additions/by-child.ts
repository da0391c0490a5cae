/**
 * Adds to the parent's verdict a child process that had ended badly before, with the verdict of the child's own bundle. Does
 * not claim that one caused the other.
 */
import { childText, endedBadly } from '../../../model/process-events/child-text.ts';
import type { Verdict } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';

const told = new Set<Verdict['kind']>(['uncaught-exception', 'unhandled-rejection', 'exit', 'worker-death']);

export function explainByChild(reached: Verdict, { account }: VerdictFacts): Verdict {
  if (!told.has(reached.kind)) return reached;
  const child = account.happenings?.children?.findLast((one) => endedBadly(one) && one.verdict);
  if (!child?.verdict || reached.summary.includes(child.verdict.title)) return reached;
  const said = child.verdict.title.replace(/\.$/, '');
  return { ...reached, summary: `${reached.summary} Child process ${childText(child)}: ${said}.` };
}
