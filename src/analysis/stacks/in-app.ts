/** Whose code a file is, told from its path alone: the program's own, a package's, Node's, or a bundler's. Pure text. */

const internal =
  /^(?:node:|internal\/|\[eval\]-wrapper|\[worker eval\]-wrapper|native |wasm:\/\/|electron\/js2c\/|<anonymous>)/;
/** Files of Node 14 and before, which have no scheme: `events.js`, `_stream_readable.js`. */
const bareNodeFile = /^_?[a-z_]+\.js$/;
/** What bundlers add to the program: `webpack:///webpack/bootstrap`, `webpack:///(webpack)/…`, rollup's `\0helpers`. */
const bundlerRuntime =
  /^(?:webpack(?:-internal)?:\/\/[^/]*\/)?(?:webpack\/|\(webpack\)|external |ignored )|^\0|^vite\/|^rolldown\/|^tslib\b/;
/**
 * Our own preload in a checkout, which no `node_modules` gives away; its halves have their names behind its own. A script
 * that it makes has a name of ours.
 */
const preload = /^agentdump:|\/register(?:-tests)?\.cjs:[a-z]+-half$|\/dist\/register(?:-tests)?\.cjs$/;

/**
 * Whether `file` (a path, or a bundler's URL) is the program's own code. A program that is itself installed below a
 * `node_modules` folder is its own when `appRoot` says so.
 */
export function isInApp(file: string, appRoot?: string): boolean {
  if (file === '' || internal.test(file) || bareNodeFile.test(file) || bundlerRuntime.test(file))
    return false;
  const path = file.replaceAll('\\', '/');
  if (preload.test(path)) return false;
  const root = appRoot?.replaceAll('\\', '/').replace(/\/+$/, '');
  const below = root && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  return !/(?:^|[/~])node_modules\//.test(below) && !below.includes('/.yarn/');
}
