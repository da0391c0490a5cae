/**
 * Chooses the bundle that `latest` stands for. tsx, npm and test runners exit with the code of the program they ran, and so
 * leave a bundle of their own after it. `latest` means the program's bundle, not theirs.
 */
import { basename, join } from 'node:path';
import { type ProcessEventsPart, type ProcessPart, partNames, type TriggerPart } from '../layout/bundle.ts';
import { openBundle } from '../read/reader.ts';
import { readBundleName } from '../write/bundle-name.ts';

/** The longest time between a death and the exit of the parent that passes it on. */
const echoMs = 30_000;
const mostLookedAt = 12;

/**
 * `names` are sorted newest first. Returns the newest, or the death of the child process that the newest only passed on.
 */
export function chooseLatest(names: readonly string[], dir: string): string | undefined {
  let [chosen] = names;
  for (const name of names.slice(1, mostLookedAt)) {
    if (chosen === undefined || !isExit(chosen) || timeOf(chosen) - timeOf(name) > echoMs) break;
    if (isParentOf(join(dir, chosen), join(dir, name))) chosen = name;
  }
  return chosen;
}

function isExit(name: string): boolean {
  return /-exit-[0-9a-f]{8}\.agentdump/.test(name) && !/-pending-exit-/.test(name);
}

function timeOf(name: string): number {
  return Date.parse(readBundleName(name)?.at ?? '');
}

/** True if it started the child itself, or saw the exit of a shell that did (npm runs every script through a shell). */
function isParentOf(parentPath: string, childPath: string): boolean {
  const { pid: parent, exitCode = 0 } = readPart<TriggerPart>(parentPath, partNames.trigger) ?? {};
  // A test runner stops its workers when it is done: such a termination is passed on only as the exit code of the signal.
  if (/-terminated-[0-9a-f]{8}\.agentdump/.test(childPath) && exitCode < 128) return false;
  if (parent !== undefined && readPart<ProcessPart>(childPath, partNames.process)?.parentPid === parent)
    return true;
  const children = readPart<ProcessEventsPart>(parentPath, partNames.processEvents)?.children;
  return Array.isArray(children) && children.some((child) => child?.bundle?.name === basename(childPath));
}

function readPart<Part>(path: string, name: string): Partial<Part> | undefined {
  try {
    const bundle = openBundle(path);
    try {
      return bundle.readJson<Partial<Part>>(name) ?? undefined;
    } finally {
      bundle.close();
    }
  } catch {
    // It is encrypted or damaged: use the newest bundle.
    return undefined;
  }
}
