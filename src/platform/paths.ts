/**
 * Paths of any system, read on any other: what died on Windows is analyzed on Linux. Only strings; for paths of the
 * machine at hand there is node:path. A backslash separates only in a path that shows itself as one of Windows, because
 * elsewhere it is a letter like others.
 */

/** `C:\` or `C:/`, and `\\server\share`. */
const ofWindows = /^(?:[A-Za-z]:[\\/]|\\\\)/;

export const isAbsolutePath = (path: string): boolean => path.startsWith('/') || ofWindows.test(path);

/** Comparable: separators are `/`. */
export const withSlashes = (path: string): string =>
  ofWindows.test(path) ? path.replaceAll('\\', '/') : path;

/** File or folder name at its end; empty where it ends with a separator. */
export function lastName(path: string): string {
  const clean = withSlashes(path);
  return clean.slice(clean.lastIndexOf('/') + 1);
}

/** All before the last name, with the separator; empty without one. */
export const beforeLastName = (path: string): string => path.slice(0, path.length - lastName(path).length);

/** What follows the folder's path and a separator; undefined for what is not below it. Windows tells no case apart. */
export function below(folder: string, path: string): string | undefined {
  const [start, whole] = [`${withSlashes(folder).replace(/\/+$/, '')}/`, withSlashes(path)];
  const isBelow = ofWindows.test(path)
    ? whole.slice(0, start.length).toLowerCase() === start.toLowerCase()
    : whole.startsWith(start);
  return isBelow ? path.slice(start.length) : undefined;
}

export const isInstalled = (path: string): boolean => withSlashes(path).includes('/node_modules/');
