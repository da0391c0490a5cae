/**
 * Where a file of a given build may be if it is not at its path: debuginfod's caches, the distribution's build-id store and,
 * for Node itself, the install folders of version managers. Only the build id decides; a name proves nothing.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { FileSource } from '../../../bytes/byte-source.ts';
import { AgentdumpError } from '../../../errors.ts';
import { readElf } from '../../../formats/elf/elf-file.ts';
import { findBuildId } from '../../../formats/elf/notes.ts';

const maxCandidates = 300;
/** Folders with one folder per version, and the path of the executable in it. */
const versionFolders: [string, string][] = [
  ['.nvm/versions/node', 'bin/node'],
  ['.volta/tools/image/node', 'bin/node'],
  ['.local/share/fnm/node-versions', 'installation/bin/node'],
  ['.fnm/node-versions', 'installation/bin/node'],
  ['.asdf/installs/nodejs', 'bin/node'],
  ['.local/share/mise/installs/node', 'bin/node'],
  ['.nodenv/versions', 'bin/node'],
  ['n/n/versions/node', 'bin/node'],
  ['/usr/local/n/versions/node', 'bin/node'],
  ['/opt/hostedtoolcache/node', 'x64/bin/node'],
  // The npm packages `node`, `node@22`…
  ['./node_modules', 'bin/node'],
];

/** The first file with this build id. */
export function findFileOfBuild(path: string, buildId: string): string | undefined {
  return candidatesFor(path, buildId).find((candidate) => hasBuildId(candidate, buildId));
}

function candidatesFor(path: string, buildId: string): string[] {
  const cache = process.env['DEBUGINFOD_CACHE_PATH'] ?? join(homedir(), '.cache/debuginfod_client');
  const name = basename(path);
  const folders = (process.env['PATH'] ?? '').split(':').filter(Boolean);
  const isNode = /^node(js)?\b/.test(name);
  return [
    join(cache, buildId, 'executable'),
    `/usr/lib/debug/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}`,
    ...folders.map((folder) => join(folder, name)),
    ...(isNode ? [process.execPath, ...folders.map((f) => join(f, 'node')), ...installedNodes()] : []),
  ]
    .slice(0, maxCandidates)
    .filter((candidate) => existsSync(candidate));
}

function installedNodes(): string[] {
  return versionFolders.flatMap(([folder, below]) => {
    const root = /^[./]\.?\//.test(folder) || folder.startsWith('/') ? folder : join(homedir(), folder);
    try {
      return readdirSync(root).map((version) => join(root, version, below));
    } catch {
      return [];
    }
  });
}

function hasBuildId(path: string, buildId: string): boolean {
  try {
    const source = new FileSource(path);
    try {
      return findBuildId(readElf(source)) === buildId;
    } finally {
      source.close();
    }
  } catch (error) {
    if (error instanceof AgentdumpError) return false;
    throw error;
  }
}
