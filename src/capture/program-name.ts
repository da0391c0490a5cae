/** The name by which a person knows the program: its script, or the folder when the script's own name says nothing. */
import { basename, dirname, extname } from 'node:path';

const sayNothing = /^(index|main|cli|bin|app|server|start|run)$/;
const layoutFolders = /^(bin|dist|src|lib|build|out|esm|cjs)$/;

/** pm2 starts a file of its own, which loads the program that its environment names. */
const pm2Script = /[/\\]pm2[/\\]lib[/\\]ProcessContainer(?:Fork)?\.js$/;

/** From `process.argv`: `['node', '/srv/agent/dist/index.js']` → `agent`. */
export function programName(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): string {
  const started = argv[1];
  if (started === undefined || started.startsWith('-')) return 'node';
  const script = pm2Script.test(started) ? environment['pm_exec_path'] || started : started;
  const name = basename(script, extname(script));
  if (!sayNothing.test(name)) return name;
  let folder = dirname(script);
  while (layoutFolders.test(basename(folder))) folder = dirname(folder);
  return basename(folder) || name;
}
