/**
 * Which bundle `latest` means. Programs run other programs: tsx, npm and test runners end with the exit code of the one
 * that died, and so die after it. Whoever asks for the latest death means that one, not its echo.
 */
import { basename, join } from 'node:path';
import { type ProcessEventsPart, type ProcessPart, partNames, type TriggerPart } from '../layout/bundle.ts';
import { openBundle } from '../read/reader.ts';
import { readBundleName } from '../write/bundle-name.ts';

/** An echo follows within this time. */
const echoMs = 30_000;
const mostLookedAt = 12;

/** `names` newest first. The newest, or the death in a child process that the newest only passed on. */
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

/** It started the child itself, or saw a shell of its own end that had (npm runs every script through one). */
function isParentOf(parentPath: string, childPath: string): boolean {
  const { pid: parent, exitCode = 0 } = readPart<TriggerPart>(parentPath, partNames.trigger) ?? {};
  // A test runner stops its workers when all is said: only an exit code of the signal passes such an end on.
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
    // Encrypted or damaged: then the newest it is.
    return undefined;
  }
}
