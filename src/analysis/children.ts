/** Carries a child's death up: the verdict of the bundle that it left beside its parent's. */
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
  if (!bundle || basename(bundle.name) !== bundle.name || bundle.name.startsWith('.')) return undefined;
  return join(dirname(bundlePath), bundle.name);
}
