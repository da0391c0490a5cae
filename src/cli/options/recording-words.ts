/** Arguments of the commands that run a program again: which recording, and which program. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { type Recording, readRecording } from '../../replay/recorded/recording.ts';
import { parseRecording } from '../../replay/recorded/recording-file.ts';
import { type BundleWords, keysOf, pathOf } from './bundle-options.ts';

export const liveOption = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'Host (or host:port) that may be contacted; any other unrecorded request stops the replay',
} as const;

/** A bundle, or a recording that `--save-test` has written. */
export async function readMeant(words: BundleWords): Promise<Recording> {
  const path = pathOfMeant(words);
  if (path.endsWith('.json')) return parseRecording(readFileSync(path, 'utf8'), path);
  const bundle = openBundle(path, await keysOf(words));
  try {
    return await readRecording(bundle);
  } finally {
    bundle.close();
  }
}

function pathOfMeant(words: BundleWords): string {
  const isFile =
    words.bundle.endsWith('.json') && statSync(words.bundle, { throwIfNoEntry: false })?.isFile();
  return isFile ? words.bundle : pathOf(words);
}

/**
 * The command after `--`; otherwise the script that died, if it belongs to this project. Any other script, such as an
 * installed tool that takes commands, would execute what the recording contains, and the recording may be untrusted.
 */
export function programOf(words: { '--'?: string[] | undefined }, { argv }: Recording): string[] {
  const given = words['--'] ?? [];
  if (given.length > 0) return given.map(String);
  const [, script, ...rest] = argv;
  if (script !== undefined && isOwnScript(script)) return [process.execPath, script, ...rest];
  throw new AgentdumpError('usage', 'the program is not here: name it after --, as in -- node agent.js', {
    argument: 'command',
  });
}

/** A file below the working directory that is not part of an installed package. */
function isOwnScript(script: string): boolean {
  if (!statSync(script, { throwIfNoEntry: false })?.isFile()) return false;
  const path = relative(realpathSync(process.cwd()), realpathSync(script));
  return !path.startsWith('..') && !isAbsolute(path) && !path.split(sep).includes('node_modules');
}
