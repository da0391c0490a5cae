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

export const isInstalled = (path: string): boolean => withSlashes(path).includes('/node_modules/');
