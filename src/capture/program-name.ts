/** The name by which a person knows the program: its script, or the folder when the script's own name says nothing. */
import { basename, dirname, extname } from 'node:path';

const sayNothing = /^(index|main|cli|bin|app|server|start|run)$/;
const layoutFolders = /^(bin|dist|src|lib|build|out|esm|cjs)$/;

/** From `process.argv`: `['node', '/srv/agent/dist/index.js']` → `agent`. */
export function programName(argv: readonly string[]): string {
  const script = argv[1];
  if (script === undefined || script.startsWith('-')) return 'node';
  const name = basename(script, extname(script));
  if (!sayNothing.test(name)) return name;
  let folder = dirname(script);
  while (layoutFolders.test(basename(folder))) folder = dirname(folder);
  return basename(folder) || name;
}
