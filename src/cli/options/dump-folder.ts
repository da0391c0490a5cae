/** The dump folder that a command looks into if none is named. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { hasReplacements, replacementOf } from '../../platform/watched-folder.ts';

const usual = './.agentdump';

/**
 * AGENTDUMP_DIR, or ./.agentdump; or what a program has written in its place because Node restarts it at each change of a file there
 * (`--watch-path`), if that is newer.
 */
export function dumpFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const wanted = environment['AGENTDUMP_DIR'] || usual;
  const replacement = hasReplacements() ? replacementOf(resolve(wanted)) : undefined;
  return replacement !== undefined && changedAtMs(replacement) > changedAtMs(wanted) ? replacement : wanted;
}

/** 0 if there is no such folder. */
const changedAtMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
