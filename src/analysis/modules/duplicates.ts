/**
 * Packages that are loaded from more than one folder. Two copies have two sets of classes: `instanceof` fails between them,
 * and a registry or context filled by one is empty in the other.
 */
import type { PackageFacts } from '../../model/account.ts';

export interface Duplicate {
  name: string;
  /** At least two, sorted by version, then by path. */
  copies: { version?: string; path: string }[];
}

const mostCopiesTold = 4;

export function findDuplicates(packages: readonly PackageFacts[]): Duplicate[] {
  const byName = new Map<string, Map<string, Duplicate['copies'][number]>>();
  for (const { name, version, path } of packages) {
    const copies = byName.get(name) ?? new Map();
    copies.set(path, { path, ...(version === undefined ? {} : { version }) });
    byName.set(name, copies);
  }
  return [...byName]
    .filter(([, copies]) => copies.size > 1)
    .map(([name, copies]) => ({ name, copies: [...copies.values()].sort(byVersion) }))
    .sort((a, b) => b.copies.length - a.copies.length || (a.name < b.name ? -1 : 1));
}

/** `zod is loaded twice: 3.22.4 from /app/node_modules/zod, 4.0.1 from …`. */
export function describeDuplicate({ name, copies }: Duplicate): string {
  const times = copies.length === 2 ? 'twice' : `${copies.length} times`;
  const told = copies
    .slice(0, mostCopiesTold)
    .map(({ version, path }) => `${version ?? 'an unknown version'} from ${path}`);
  if (copies.length > told.length) told.push(`${copies.length - told.length} more`);
  return `${name} is loaded ${times}: ${told.join(', ')}`;
}

function byVersion(a: Duplicate['copies'][number], b: Duplicate['copies'][number]): number {
  const order = (a.version ?? '').localeCompare(b.version ?? '', 'en', { numeric: true });
  return order || (a.path < b.path ? -1 : 1);
}
