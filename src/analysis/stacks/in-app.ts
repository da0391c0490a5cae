/**
 * Decides from a file's path whether it belongs to the program itself, a package, Node or a bundler. Only looks at the text
 * of the path.
 */

const internal =
  /^(?:node:|internal\/|\[eval\]-wrapper|\[worker eval\]-wrapper|native |wasm:\/\/|electron\/js2c\/|<anonymous>)/;
/** Files of Node 14 and older, which have no scheme: `events.js`, `_stream_readable.js`. */
const bareNodeFile = /^_?[a-z_]+\.js$/;
/** Code that bundlers add to the program: `webpack:///webpack/bootstrap`, `webpack:///(webpack)/…`, rollup's `\0helpers`. */
const bundlerRuntime =
  /^(?:webpack(?:-internal)?:\/\/[^/]*\/)?(?:webpack\/|\(webpack\)|external |ignored )|^\0|^vite\/|^rolldown\/|^tslib\b/;
/**
 * Our own preload in a checkout, where its path contains no `node_modules`. Its two halves have suffixes; scripts that it
 * generates have an `agentdump:` name.
 */
const preload = /^agentdump:|\/register(?:-tests)?\.cjs:[a-z]+-half$|\/dist\/register(?:-tests)?\.cjs$/;

/**
 * Whether `file` (a path, or a bundler's URL) is the program's own code. `appRoot` allows a program that is itself installed
 * below a `node_modules` folder.
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
