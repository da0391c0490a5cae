/**
 * What other bundles of the same folder say of this death: that of a child that ended badly, and the one that the process
 * itself had begun to write when it was killed.
 */
import { basename, dirname, join } from 'node:path';
import type { ChildFacts, Happenings } from '../model/account.ts';
import { endedBadly } from '../model/happening-text.ts';
import type { Verdict } from '../model/verdict.ts';

const mostRead = 3;

/** `analyze` answers with the verdict of a bundle, undefined when it cannot be read. */
export async function addChildVerdicts(
  bundlePath: string,
  happenings: Happenings | undefined,
  analyze: (path: string, id: string) => Promise<Verdict | undefined>,
): Promise<void> {
  const children = (happenings?.children ?? []).filter(endedBadly).slice(-mostRead);
  for (const child of children) {
    const path = pathOf(bundlePath, child);
    const verdict = path && child.bundle && (await analyze(path, child.bundle.id));
    if (verdict) {
      const { kind, title, confidence } = verdict;
      child.verdict = { kind, title, confidence };
    }
  }
}

/** A bundle's own words say what its child's is called: no name leads out of the folder. */
function pathOf(bundlePath: string, { bundle }: ChildFacts): string | undefined {
  return bundle && besides(bundlePath, bundle.name);
}

export function besides(bundlePath: string, name: string): string | undefined {
  return basename(name) === name && !name.startsWith('.') ? join(dirname(bundlePath), name) : undefined;
}

/** It was writing its own account when it was killed: that is the death, and the kill is what cut it short. */
export function joinUnfinished(reached: Verdict, begun: Verdict): Verdict {
  const signal =
    reached.kind === 'killed'
      ? 'It was killed while it wrote its bundle.'
      : 'It ended while it wrote its bundle.';
  return {
    ...begun,
    summary: `${begun.summary} ${signal}`,
    evidence: [...begun.evidence, ...reached.evidence],
    ...(reached.beforeEnd && { beforeEnd: reached.beforeEnd }),
  };
}
