/**
 * Folders below which Node restarts a program at each change of a file (`node --watch-path`). A dump folder in one of them would restart
 * the program with each file that is written to it, for ever, so another one takes its place.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import { platform } from './index.ts';

const pathOption = '--watch-path';
const idDigits = 12;
/** Enough for a package script in a shell in a script; a longer chain is taken for one that is not known. */
const mostAncestors = 16;

/**
 * The dump folder of this process, which Node's watcher or a process below it has started. `dir` is absolute. Throws if there is no other
 * folder.
 */
export function unwatchedFolder(dir: string): string {
  const watched = foldersWatchedHere();
  return watched?.some((folder) => isIn(folder, dir)) === false ? dir : requireReplacement(dir, watched);
}

/** The same for a process that is going to start the command `words`. */
export function folderFor(words: readonly string[], dir: string): string {
  const watched = watchedFolders(words, process.cwd());
  return watched?.some((folder) => isIn(folder, dir)) ? requireReplacement(dir, watched) : dir;
}

/** What is written in the place of the dump folder `dir`, whether it is there or not; undefined if the user has no folder for that. */
export function replacementOf(dir: string): string | undefined {
  const parent = parentOfReplacements();
  if (parent === undefined) return undefined;
  // Not imported: it takes milliseconds to load, and hardly any command needs it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const id = createHash('sha256').update(dir).digest('hex').slice(0, idDigits);
  return join(parent, `${basename(dirname(dir)) || 'root'}-${id}`);
}

/** Whether there may be one: most users have none. */
export function hasReplacements(): boolean {
  const parent = parentOfReplacements();
  return parent !== undefined && existsSync(parent);
}

function parentOfReplacements(): string | undefined {
  const state = stateFolder();
  return state === undefined ? undefined : join(state, 'agentdump');
}

/**
 * Where programs keep what a user may want later, absolute; undefined without a home. Not in each system's file: those are part of the
 * code that runs at every start.
 */
export function stateFolder(system = platform.name): string | undefined {
  switch (system) {
    case 'win32':
      return absolute(process.env['LOCALAPPDATA']) ?? inHome('AppData', 'Local');
    case 'darwin':
      return inHome('Library', 'Application Support');
    default:
      // The XDG Base Directory Specification ignores a relative path.
      return absolute(process.env['XDG_STATE_HOME']) ?? inHome('.local', 'state');
  }
}

const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

function inHome(...names: string[]): string | undefined {
  try {
    const home = process.getBuiltinModule('node:os').homedir();
    return isAbsolute(home) && dirname(home) !== home ? join(home, ...names) : undefined;
  } catch {
    return undefined;
  }
}

function requireReplacement(dir: string, watched: readonly string[] | undefined): string {
  const found = replacementOf(dir);
  if (found !== undefined && !watched?.some((folder) => isIn(folder, found))) return found;
  throw new AgentdumpError(
    'usage',
    `Node restarts the program at each change below a folder that contains ${dir}: set AGENTDUMP_DIR to a folder elsewhere`,
    { argument: '--dir' },
  );
}

/** Undefined if it is not known: not every system tells the command line of another process. */
function foldersWatchedHere(): string[] | undefined {
  let pid = process.ppid;
  for (let count = 0; pid > 0 && count < mostAncestors; count++) {
    const words = platform.processFile(pid, 'cmdline')?.split('\0') ?? [];
    const found = watchedFolders(words, platform.processLink(pid, 'cwd') ?? process.cwd());
    if (found) return found;
    // The second of these fields is the parent.
    pid = Number(platform.processStat(pid)?.[1] ?? 0);
  }
  return undefined;
}

/** Of a command line; empty if only the program's modules are watched, undefined if nothing is. */
export function watchedFolders(words: readonly string[], cwd: string): string[] | undefined {
  const given = words.flatMap((word, at) => {
    if (word === pathOption) return words.slice(at + 1, at + 2);
    return word.startsWith(`${pathOption}=`) ? [word.slice(pathOption.length + 1)] : [];
  });
  if (given.length === 0) return words.includes('--watch') ? [] : undefined;
  return given.map((path) => resolve(cwd, path));
}

function isIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`);
}
