/**
 * `drift.json`: compares the lock file near the program with what is installed and loaded. Reads all of npm's lock file (v2,
 * v3); for pnpm, Yarn and Bun it looks up the entry of each loaded package. Formats: npm's documentation of
 * package-lock.json, pnpm-lock.yaml's `packages:` keys, yarn.lock's entries.
 */
import { dirname, join, relative, sep } from 'node:path';
import { type DriftPart, partNames } from '../../bundle/layout/bundle.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { findField } from '../host/read-field.ts';
import { findPackages, readPackageJson } from './packages.ts';
import type { CaptureContext, PartProducer } from './part.ts';

const maxLockBytes = 16 * 1024 * 1024;
const lockFiles = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
] as const;

export const driftPart: PartProducer = {
  name: partNames.drift,
  produce(context): DriftPart | undefined {
    const start = context.scriptUrls.length > 0 ? programFolder(context) : process.cwd();
    const lock = findLockFile(start);
    const missing = missingModule(context.thrown?.value);
    if (!lock)
      return missing ? { lockFile: '', kind: 'npm', missing, differences: [], compared: 0 } : undefined;
    const compared = lock.kind === 'npm' ? compareNpm(lock, context, missing) : compareText(lock, context);
    return { lockFile: lock.path, kind: lock.kind, ...(missing ? { missing } : {}), ...compared };
  },
};

interface LockFile {
  path: string;
  folder: string;
  kind: DriftPart['kind'];
  text: string;
}
type Difference = DriftPart['differences'][number];
type Compared = Pick<DriftPart, 'differences' | 'compared'>;

function programFolder(context: CaptureContext): string {
  return findPackages(context).find((found) => found.isProgram)?.path ?? process.cwd();
}

function findLockFile(start: string): LockFile | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    for (const [name, kind] of lockFiles) {
      const text = readSmallFile(join(folder, name), maxLockBytes);
      if (text !== undefined && text.length < maxLockBytes)
        return { path: join(folder, name), folder, kind, text };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** The specifier that could not be found, from Node's own errors. */
function missingModule(thrown: unknown): DriftPart['missing'] {
  const code = findField(thrown, 'code');
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const message = String(findField(thrown, 'message'));
  const specifier = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  if (specifier === undefined) return undefined;
  const requireStack = findField(thrown, 'requireStack');
  const from =
    / imported from (\S+)/.exec(message)?.[1] ?? (Array.isArray(requireStack) ? requireStack[0] : undefined);
  return typeof from === 'string' ? { specifier, from } : { specifier };
}

/** `@scope/name/sub/path` → `@scope/name`; undefined for paths and Node's own modules. */
function packageNameOf(specifier: string): string | undefined {
  if (/^[./]|^[a-z]+:/i.test(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function compareNpm(lock: LockFile, context: CaptureContext, missing: DriftPart['missing']): Compared {
  const entries =
    (
      JSON.parse(lock.text) as {
        packages?: Record<string, { version?: string; dev?: boolean; optional?: boolean }>;
      }
    ).packages ?? {};
  const differences: Difference[] = [];
  const wanted = new Set(findPackages(context).map((found) => found.path));
  const missingName = missing && packageNameOf(missing.specifier);
  if (missingName) wanted.add(join(lock.folder, 'node_modules', missingName));
  let compared = 0;
  for (const folder of wanted) {
    if (!folder.startsWith(join(lock.folder, 'node_modules'))) continue;
    // The lock file uses slashes on every system.
    const place = relative(lock.folder, folder).replaceAll(sep, '/');
    const locked = entries[place]?.version;
    const installed = readPackageJson(folder)?.version;
    compared++;
    const difference = compareOne(place, locked, installed);
    if (difference) differences.push({ ...difference, ...requestedRange(lock.folder, difference.name) });
  }
  return { differences, compared };
}

function compareOne(
  place: string,
  locked: string | undefined,
  installed: string | undefined,
): Difference | undefined {
  if (locked === installed) return undefined;
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const problem =
    installed === undefined
      ? 'locked but not installed'
      : locked === undefined
        ? 'installed but not in the lock file'
        : 'another version is installed than is locked';
  return {
    name,
    path: place,
    problem,
    ...(locked === undefined ? {} : { locked }),
    ...(installed === undefined ? {} : { installed }),
  };
}

function requestedRange(folder: string, name: string): { requested?: string } {
  const wanted = readPackageJson(folder)?.dependencies ?? {};
  const range = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
  return range === undefined ? {} : { requested: range };
}

/** In the text formats the entry of a package is `name@version`, or a block with its version; no such entry means drift. */
function compareText(lock: LockFile, context: CaptureContext): Compared {
  const differences: Difference[] = [];
  let compared = 0;
  for (const { name, version, path } of findPackages(context)) {
    if (version === undefined || !path.startsWith(join(lock.folder, 'node_modules'))) continue;
    compared++;
    const lockedVersions = versionsInText(lock, name);
    if (lockedVersions.includes(version)) continue;
    const problem =
      lockedVersions.length > 0
        ? 'another version is installed than is locked'
        : 'installed but not in the lock file';
    const locked = lockedVersions.join(', ');
    differences.push({
      name,
      path: path.slice(lock.folder.length + 1),
      installed: version,
      problem,
      ...(locked ? { locked } : {}),
    });
  }
  return { differences, compared };
}

function versionsInText(lock: LockFile, name: string): string[] {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const pattern = {
    npm: '',
    pnpm: `^ {2}['"]?/?${escaped}[@/]([^:('"\\s]+)`,
    yarn: `^"?${escaped}@[^\\n]*:\\n {2}version:? "?([^"\\n]+)"?`,
    bun: `"${escaped}@([^"]+)"`,
  }[lock.kind];
  return [...lock.text.matchAll(new RegExp(pattern, 'gm'))].flatMap((match) => match[1] ?? []);
}
