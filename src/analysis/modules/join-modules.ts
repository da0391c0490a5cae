/**
 * The program's packages and native modules for the account: what was loaded, what the lock file pins instead, and
 * duplicates. The parts have already been validated field by field; opens no files.
 */
import type { DriftPart, NativeModulesPart, PackagesPart } from '../../bundle/layout/bundle.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Account, NativeModuleFacts, PackageFacts, UnusualFact } from '../../model/account.ts';
import { beforeLastName, isAbsolutePath } from '../../platform/paths.ts';
import { type Difference, describeDrift } from './drift.ts';
import { describeDuplicate, findDuplicates } from './duplicates.ts';

export interface ModuleParts {
  packages: PackagesPart['packages'];
  nativeModules: NativeModulesPart['modules'];
  drift?: Partial<DriftPart> & Pick<DriftPart, 'differences'>;
}

export interface JoinedModules {
  modules: NonNullable<Account['modules']>;
  /** Packages that are loaded more than once, most copies first. */
  unusual: UnusualFact[];
}

const mostDuplicatesTold = 5;

export function joinModules({ packages, nativeModules, drift }: ModuleParts): JoinedModules {
  const facts = joinPackages(packages, drift);
  // Only loaded packages: one that is only in the lock file is not a copy.
  const duplicates = findDuplicates(packages);
  const told = duplicates.slice(0, mostDuplicatesTold).map(describeDuplicate);
  if (duplicates.length > told.length)
    told.push(`${duplicates.length - told.length} more packages are loaded more than once`);
  return {
    modules: { packages: facts, native: nativeModules.map(nativeFacts).sort(byBase) },
    unusual: told.map((fact) => ({ level: 'notice', fact, part: partNames.packages })),
  };
}

/** Loaded packages in their order, each with its difference; then packages of the lock file that are not on disk. */
function joinPackages(packages: PackagesPart['packages'], drift: ModuleParts['drift']): PackageFacts[] {
  const lockFile = drift?.lockFile ?? '';
  const left = new Map<string, Difference>();
  for (const difference of drift?.differences ?? [])
    left.set(keyOf(difference.name, placeOf(difference, lockFile)), difference);
  const facts: PackageFacts[] = packages.map(({ name, path, version, requested }) => {
    const key = [keyOf(name, path), keyOf(name, '')].find((known) => left.has(known)) ?? '';
    const difference = left.get(key);
    left.delete(key);
    const range = requested ?? difference?.requested;
    return {
      name,
      path,
      ...(version === undefined ? {} : { version }),
      ...(range === undefined ? {} : { requested: range }),
      ...(difference ? { drift: describeDrift(difference, lockFile) } : {}),
    };
  });
  for (const difference of left.values()) facts.push(absentPackage(difference, lockFile));
  return facts;
}

const keyOf = (name: string, path: string): string => `${name}\0${path}`;

/** Paths in a lock file are relative to its folder. Empty for a difference without a path. */
function placeOf({ path }: Difference, lockFile: string): string {
  if (path === undefined || isAbsolutePath(path)) return path ?? '';
  return beforeLastName(lockFile) + path;
}

function absentPackage(difference: Difference, lockFile: string): PackageFacts {
  const { name, installed, requested } = difference;
  const path = placeOf({ ...difference, path: difference.path ?? `node_modules/${name}` }, lockFile);
  return {
    name,
    path,
    ...(installed === undefined ? {} : { version: installed }),
    ...(requested === undefined ? {} : { requested }),
    drift: describeDrift(difference, lockFile),
  };
}

function nativeFacts({ path, base, end, buildId }: NativeModulesPart['modules'][number]): NativeModuleFacts {
  return { path, base, end, ...(buildId === undefined ? {} : { buildId }) };
}

/** Hexadecimal strings of equal length sort like their numbers; a shorter one is smaller. */
function byBase(a: NativeModuleFacts, b: NativeModuleFacts): number {
  if (a.base.length !== b.base.length) return a.base.length - b.base.length;
  return a.base < b.base ? -1 : a.base > b.base ? 1 : 0;
}
