/**
 * Which scripts are ours. The variables of their frames are never read: a thread may be stopped while we redact a text, and
 * our variables then hold pieces of it, in which a secret lacks the start or the name by which it is recognized.
 */

/** The parts of the preload that are compiled later (install/half-loader.ts), and everything in an installed package. */
const own = /(?:^|[\\/])(?:agentdump[\\/]dist[\\/].+|[^\\/]+\.cjs:[a-z]+-half)$/;

/**
 * `url`: of a script, or its path. `ownFile`: the preload's path; what is beside it is recognized in a folder of any name, but
 * only the redactor's, because a bundled program may have been put there as well.
 */
export function isOwnScript(url: string, ownFile: string): boolean {
  if (own.test(url)) return true;
  const file = slashed(ownFile);
  const folder = file.slice(0, file.lastIndexOf('/'));
  const path = pathOf(url);
  return path === file || path === `${folder}/register-tests.cjs` || path.startsWith(`${folder}/redaction/`);
}

function pathOf(url: string): string {
  if (!url.startsWith('file://')) return slashed(url);
  try {
    return decodeURIComponent(url.slice('file://'.length)).replace(/^\/(?=[A-Za-z]:\/)/, '');
  } catch {
    return url;
  }
}

const slashed = (path: string): string => path.replaceAll('\\', '/');
