/** Determines which release of a program died, from the bundle's environment and packages. Pure. */
import type { Account } from '../../model/account.ts';

export interface ReleaseFacts {
  release?: string;
  commit?: string;
}

const releaseVariables = [
  'AGENTDUMP_RELEASE',
  'RELEASE',
  'SENTRY_RELEASE',
  'CI_COMMIT_TAG',
  'HEROKU_RELEASE_VERSION',
];
const commitVariables = [
  'GITHUB_SHA',
  'CI_COMMIT_SHA',
  'GIT_COMMIT',
  'BUILDKITE_COMMIT',
  'CIRCLE_SHA1',
  'BITBUCKET_COMMIT',
  'BUILD_SOURCEVERSION',
  'CODEBUILD_RESOLVED_SOURCE_VERSION',
  'VERCEL_GIT_COMMIT_SHA',
  'RENDER_GIT_COMMIT',
  'RAILWAY_GIT_COMMIT_SHA',
  'HEROKU_SLUG_COMMIT',
  'SOURCE_VERSION',
];

/** An explicit name; otherwise the version of the program's package, with the commit if that is known. */
export function readRelease({ environment, modules }: Account): ReleaseFacts {
  const read = (names: readonly string[]) => {
    for (const name of names) {
      const entry = environment?.variables?.[name];
      if (entry && 'value' in entry && entry.value.trim()) return entry.value.trim();
    }
    return undefined;
  };
  const commit = read(commitVariables);
  const version = modules?.packages.find(({ path }) => !path.includes('node_modules'))?.version;
  const short = commit?.slice(0, 12);
  const made = version === undefined || short === undefined ? (version ?? short) : `${version}+${short}`;
  const release = read(releaseVariables) ?? made;
  return { ...(release !== undefined && { release }), ...(commit !== undefined && { commit }) };
}

/** Compares by semantic versioning, ignoring a leading name (`api@1.2.3`); undefined if either is no such version. */
export function compareReleases(a: string, b: string): number | undefined {
  const one = readVersion(a);
  const other = readVersion(b);
  if (!one || !other) return undefined;
  for (const part of [0, 1, 2] as const)
    if (one.core[part] !== other.core[part]) return one.core[part] - other.core[part];
  return comparePrereleases(one.prerelease, other.prerelease);
}

interface Version {
  core: [number, number, number];
  prerelease: string[];
}

function readVersion(text: string): Version | undefined {
  const found = /^(?:.*@)?v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(
    text,
  );
  if (!found) return undefined;
  const [, major, minor, patch, prerelease] = found;
  return { core: [Number(major), Number(minor), Number(patch)], prerelease: prerelease?.split('.') ?? [] };
}

/** A version without prerelease identifiers is the later one. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [one = '', other = ''] = [a[i], b[i]];
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
