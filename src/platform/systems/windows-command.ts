/**
 * On Windows, scripts (`npm.cmd`) can't be started as a process. cmd.exe has to run them, with a command line in its own
 * grammar, in which a backslash escapes quotes and a caret any character. Sources: Microsoft's "Parsing C++ Command-Line
 * Arguments", `cmd /?`.
 */
import { existsSync } from 'node:fs';
import { win32 } from 'node:path';
import type { SpawnWords } from '../interface.ts';

const usualExtensions = '.COM;.EXE;.BAT;.CMD';
const isScript = /\.(?:cmd|bat)$/i;
/** The scripts that npm creates for packages parse their arguments twice. */
const isShim = /[\\/]node_modules[\\/]\.bin[\\/][^\\/]+$/i;
const special = /[()\][%!^"`<>&|;, *?]/g;

export function windowsCommand(
  file: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  exists: (path: string) => boolean = existsSync,
): SpawnWords {
  const found = findProgram(file, environment, exists);
  if (found === undefined || !isScript.test(found)) return { file, words: [...words] };
  const times = isShim.test(found) ? 2 : 1;
  const line = [
    escapeTimes(win32.normalize(found), 1),
    ...words.map((word) => escapeTimes(quote(word), times)),
  ];
  return {
    file: environment['ComSpec'] ?? environment['comspec'] ?? 'cmd.exe',
    words: ['/d', '/s', '/c', `"${line.join(' ')}"`],
    windowsVerbatimArguments: true,
  };
}

/** Searches like Windows: a path as it is, a name in the folders of PATH, each with the extensions of programs. */
function findProgram(
  file: string,
  environment: NodeJS.ProcessEnv,
  exists: (path: string) => boolean,
): string | undefined {
  const extensions = (environment['PATHEXT'] ?? usualExtensions).split(';');
  const hasFolder = /[\\/]/.test(file);
  const folders = hasFolder
    ? ['']
    : (environment['Path'] ?? environment['PATH'] ?? '').split(';').filter(Boolean);
  for (const folder of folders) {
    const path = folder === '' ? file : win32.join(folder, file);
    const tried = win32.extname(file) === '' ? extensions.map((end) => path + end.toLowerCase()) : [path];
    const found = tried.find(exists);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Backslashes are doubled before a quote, and before the closing quote. */
const quote = (word: string): string => `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;

function escapeTimes(text: string, times: number): string {
  return times === 0 ? text : escapeTimes(text.replace(special, '^$&'), times - 1);
}
