/**
 * Decides from a file's path whether it belongs to the program itself, a package, Node or a bundler. Only looks at the text
 * of the path.
 */
import { isOfPreload } from '../../model/frame-text.ts';

const internal =
  /^(?:node:|internal\/|\[eval\]-wrapper|\[worker eval\]-wrapper|native |wasm:\/\/|electron\/js2c\/|<anonymous>)/;
/** Files of Node 14 and older, which have no scheme: `events.js`, `_stream_readable.js`. */
const bareNodeFile = /^_?[a-z_]+\.js$/;
/** Code that bundlers add to the program: `webpack:///webpack/bootstrap`, `webpack:///(webpack)/…`, rollup's `\0helpers`. */
const bundlerRuntime =
  /^(?:webpack(?:-internal)?:\/\/[^/]*\/)?(?:webpack\/|\(webpack\)|external |ignored )|^\0|^vite\/|^rolldown\/|^tslib\b/;
/**
 * Whether `file` (a path, or a bundler's URL) is the program's own code. `appRoot` allows a program that is itself installed
 * below a `node_modules` folder.
 */
export function isInApp(file: string, appRoot?: string): boolean {
  if (file === '' || internal.test(file) || bareNodeFile.test(file) || bundlerRuntime.test(file))
    return false;
  // In a checkout its path contains no `node_modules`.
  if (isOfPreload(file)) return false;
  const path = file.replaceAll('\\', '/');
  const root = appRoot?.replaceAll('\\', '/').replace(/\/+$/, '');
  const below = root && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  return !/(?:^|[/~])node_modules\//.test(below) && !below.includes('/.yarn/');
}
