/**
 * Paths of any system, parsed on any other: a process that died on Windows may be analyzed on Linux. Operates on strings
 * only; for paths of the current machine use node:path. A backslash is a separator only in a path that is recognisably a
 * Windows path, because elsewhere it is an ordinary character.
 */

/** `C:\` or `C:/`, and `\\server\share`. */
const ofWindows = /^(?:[A-Za-z]:[\\/]|\\\\)/;

export const isAbsolutePath = (path: string): boolean => path.startsWith('/') || ofWindows.test(path);

/** For comparison: with `/` as the separator. */
export const withSlashes = (path: string): string =>
  ofWindows.test(path) ? path.replaceAll('\\', '/') : path;

/** The last file or folder name; empty if the path ends with a separator. */
export function lastName(path: string): string {
  const clean = withSlashes(path);
  return clean.slice(clean.lastIndexOf('/') + 1);
}

/** Everything before the last name, including the separator; empty without one. */
export const beforeLastName = (path: string): string => path.slice(0, path.length - lastName(path).length);

/**
 * The rest of the path after the folder and a separator; undefined if it is not below the folder. Case-insensitive on
 * Windows.
 */
export function below(folder: string, path: string): string | undefined {
  const [start, whole] = [`${withSlashes(folder).replace(/\/+$/, '')}/`, withSlashes(path)];
  const isBelow = ofWindows.test(path)
    ? whole.slice(0, start.length).toLowerCase() === start.toLowerCase()
    : whole.startsWith(start);
  return isBelow ? path.slice(start.length) : undefined;
}

/** Of the file of a package; also for a path that is relative, as places show it. */
export const isInstalled = (path: string): boolean => /(?:^|[\\/])node_modules[\\/]/.test(path);

/*
 * Command lines as one text that keeps its words apart: a word with a space, a quote or another character of the shell is quoted
 * as a POSIX shell would need it.
 */

/** A backslash before another or at the end would escape what follows it. */
const plainWord = /^(?!.*\\(?:\\|$))[\p{L}\p{N}\p{M}_@%+=:,./\\~^[\]…-]+$/u;

/** `node 'my file.mjs' --name 'it'\''s'`. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  if (plainWord.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The words of such a text, or of what somebody typed into a shell. Undefined if a quote is not closed: a text that was cut, or
 * one whose quotes are not the shell's.
 */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === "'" || char === '"')) {
      quote = char;
      word ??= '';
    } else if (char === '\\' && quote !== "'" && /["'\\$`\s]/.test(text[at + 1] ?? '')) {
      word = (word ?? '') + text[++at];
    } else word = (word ?? '') + char;
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
}
