/**
 * `packages.json`: the packages from which scripts were loaded, according to their own package.json, and the ranges that the
 * program requests.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PackagesPart, partNames } from '../../bundle/layout/bundle.ts';
import { below, isAbsolutePath, isInstalled } from '../../platform/paths.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { CaptureContext, PartProducer } from './part.ts';

const maxPackages = 2000;

export const packagesPart: PartProducer = {
  name: partNames.packages,
  produce(context): PackagesPart {
    return { packages: findPackages(context) };
  },
};

type Package = PackagesPart['packages'][number];

/** The packages behind the loaded scripts; the program's own first. */
export function findPackages(context: Pick<CaptureContext, 'scriptUrls' | 'addGap'>): Package[] {
  const folders = new Map<string, Package | undefined>();
  for (const url of context.scriptUrls) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (!isAbsolutePath(path)) continue;
    const found = packageOf(dirname(path), folders);
    if (found) found.scripts++;
    if (folders.size > maxPackages * 8) break;
  }
  const packages = [...new Set(folders.values())].filter(
    (found) => found !== undefined && found.scripts > 0,
  ) as Package[];
  markProgram(packages);
  if (packages.length > maxPackages)
    context.addGap(partNames.packages, `${packages.length} packages; ${maxPackages} are listed`);
  return packages.slice(0, maxPackages);
}

/** The nearest parent folder whose package.json has a name (one with only "type" is not a package). */
function packageOf(folder: string, folders: Map<string, Package | undefined>): Package | undefined {
  if (folders.has(folder)) return folders.get(folder);
  const manifest = readPackageJson(folder);
  const parent = dirname(folder);
  let found: Package | undefined;
  if (manifest?.name !== undefined) {
    found = { name: manifest.name, path: folder, scripts: 0 };
    if (manifest.version !== undefined) found.version = manifest.version;
  } else if (parent !== folder) {
    found = packageOf(parent, folders);
  }
  folders.set(folder, found);
  return found;
}

export interface PackageManifest {
  name?: string;
  version?: string;
  dependencies: Record<string, string>;
}

/** Name, version and requested dependencies; undefined if `folder` has no readable package.json. */
export function readPackageJson(folder: string): PackageManifest | undefined {
  const text = readSmallFile(join(folder, 'package.json'), 1024 * 1024);
  if (text === undefined) return undefined;
  try {
    const data = JSON.parse(text) as Record<string, unknown>;
    const manifest: PackageManifest = { dependencies: {} };
    if (typeof data['name'] === 'string') manifest.name = data['name'];
    if (typeof data['version'] === 'string') manifest.version = data['version'];
    for (const field of ['optionalDependencies', 'devDependencies', 'dependencies'])
      for (const [name, range] of Object.entries(data[field] ?? {}))
        if (typeof range === 'string') manifest.dependencies[name] = range;
    return manifest;
  } catch {
    return undefined;
  }
}

/**
 * The program's own package is that of its script, else the first that is not installed as a dependency. It contains the
 * requested ranges.
 */
function markProgram(packages: Package[]): void {
  const script = process.argv[1] ?? '';
  const around = packages
    .filter(({ path }) => below(path, script) !== undefined)
    .sort((a, b) => b.path.length - a.path.length);
  const program = around[0] ?? packages.find((candidate) => !isInstalled(candidate.path));
  if (!program) return;
  program.isProgram = true;
  const wanted = readPackageJson(program.path)?.dependencies ?? {};
  for (const candidate of packages) {
    const range = Object.hasOwn(wanted, candidate.name) ? wanted[candidate.name] : undefined;
    if (range !== undefined && candidate !== program) candidate.requested = range;
  }
  packages.splice(packages.indexOf(program), 1);
  packages.unshift(program);
}
