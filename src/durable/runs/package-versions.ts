/** Installed versions of the packages that the program lists as its dependencies. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A program with more is described by its first ones. */
const mostPackages = 60;
let known: Record<string, string> | undefined;

/** Cached; empty if there is no package.json. */
export function readPackageVersions(program: string = process.argv[1] ?? ''): Record<string, string> {
  known ??= lookUp(program);
  return known;
}

function lookUp(program: string): Record<string, string> {
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    const manifest = readJson(join(folder, 'package.json'));
    if (manifest)
      return installed(folder, Object.keys((manifest['dependencies'] as object | undefined) ?? {}));
    if (folder === dirname(folder)) return {};
  }
}

function installed(folder: string, names: string[]): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const name of names.slice(0, mostPackages)) {
    const version = readJson(join(folder, 'node_modules', name, 'package.json'))?.['version'];
    if (typeof version === 'string') versions[name] = version;
  }
  return versions;
}

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
