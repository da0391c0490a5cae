/**
 * Converts names of sources in a map to readable paths. Works on text only; the disk is not accessed. Bundlers write paths
 * relative to the map, absolute paths, `file:` URLs, and URLs of their own (`webpack://name/./src/a.ts`).
 */

const scheme = /^[A-Za-z][A-Za-z0-9+.-]{1,30}:/;
const drive = /^[A-Za-z]:[\\/]/;

/** Prepends the map's sourceRoot to the name of a source, unless that is absolute. */
export function joinSourceRoot(root: string, source: string): string {
  if (!root || isAbsolute(source)) return resolveDots(source);
  return resolveDots(root.endsWith('/') ? root + source : `${root}/${source}`);
}

/** Resolves a source against the folder of the map; returns an absolute path, or the bundler's own URL unchanged. */
export function resolveSource(folder: string, source: string): string {
  if (source.startsWith('file://')) return pathOfFileUrl(source);
  if (isAbsolute(source) || !folder) return source;
  return resolveDots(folder.endsWith('/') ? folder + source : `${folder}/${source}`);
}

/** Whether a path or URL is independent of the folder that it is used in. */
export function isAbsolute(path: string): boolean {
  return (
    path.startsWith('/') || path.startsWith('\\\\') || scheme.test(path.slice(0, 40)) || drive.test(path)
  );
}

/**
 * Resolves `.` and `..` in a path or the path of a URL. A leading `..` of a relative path is kept; it can't go above the root
 * of an absolute path or of a URL.
 */
export function resolveDots(path: string): string {
  if (!/(?:^|\/)\.{0,2}(?:\/|$)/.test(path)) return path;
  const prefix = /^(?:[A-Za-z][A-Za-z0-9+.-]{1,30}:(?:\/\/[^/]*)?|[A-Za-z]:)?\/{0,3}/.exec(path)?.[0] ?? '';
  const rooted = prefix.endsWith('/');
  const kept: string[] = [];
  for (const part of path.slice(prefix.length).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!rooted) kept.push('..');
  }
  return prefix + kept.join('/');
}

function pathOfFileUrl(url: string): string {
  const path = decode(url.slice(7));
  return drive.test(path.slice(1)) ? path.slice(1) : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
