/** Loaded packages with how each differs from the lock file; packages that only the lock file knows come last. */
import type { PackageFacts } from '../../model/account.ts';
import type { BundleParts } from '../bundle-parts.ts';
import type { DriftFacts } from '../parts/code.ts';
import { defined } from '../parts/fields.ts';

type Difference = DriftFacts['differences'][number];

export function joinPackages({ packages, drift }: BundleParts): PackageFacts[] {
  const differences = drift?.differences ?? [];
  const byPath = new Map(differences.map((d) => [d.path, d]));
  const byName = new Map(differences.map((d) => [d.name, d]));
  const used = new Set<Difference>();
  const loaded = packages.map((one): PackageFacts => {
    const named = byName.get(one.name);
    // Without a path, a difference means every copy of its name.
    const difference = byPath.get(one.path) ?? (named?.path === undefined ? named : undefined);
    if (difference) used.add(difference);
    return {
      name: one.name,
      path: one.path,
      ...defined({
        version: one.version,
        requested: one.requested,
        drift: difference && driftText(difference),
      }),
    };
  });
  const absent = differences
    .filter((d) => !used.has(d))
    .map(
      (d): PackageFacts => ({
        name: d.name,
        path: d.path ?? '',
        drift: driftText(d),
        ...defined({ version: d.installed, requested: d.requested }),
      }),
    );
  return [...loaded, ...absent];
}

/** `locked 1.3.0, installed 1.1.0`, or the words of the part. */
function driftText({ locked, installed, problem }: Difference): string {
  return locked ? `locked ${locked}, ${installed ? `installed ${installed}` : 'not installed'}` : problem;
}
