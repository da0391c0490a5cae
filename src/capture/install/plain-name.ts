/**
 * The name by which a person knows the program: that of its script, or the folder if the script's name is generic. Without
 * the redactor, which the hot half must not include: 200 KB that V8 would scan at each start.
 */
import { basename, dirname, extname, isAbsolute } from 'node:path';

const sayNothing = /^(index|main|cli|bin|app|server|start|run)$/;
const layoutFolders = /^(bin|dist|src|lib|build|out|esm|cjs)$/;

/** pm2 starts a file of its own, which loads the program that is named in the environment. */
const pm2Script = /[/\\]pm2[/\\]lib[/\\]ProcessContainer(?:Fork)?\.js$/;

/** A file of an installed package that is not started by hand, such as a pool's worker. */
const packageFile = /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?([^/\\]+)[/\\](?!(?:.*[/\\])?bin[/\\])/;

/** Pools of worker processes, identified by a variable that their runner sets. */
const runnersOfPools: Readonly<Record<string, readonly [variable: string, runner: string]>> = {
  tinypool: ['VITEST', 'vitest'],
  workerpool: ['MOCHA_WORKER_ID', 'mocha'],
};

/** From `process.argv`: `['node', '/srv/agent/dist/index.js']` → `agent`. Not redacted. */
export function plainName(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): string {
  const started = argv[1];
  // A script's path is absolute; after code (`node -e code 1067`) come its arguments.
  if (started === undefined || !isAbsolute(started)) return 'node';
  const script = pm2Script.test(started) ? environment['pm_exec_path'] || started : started;
  const owner = packageFile.exec(script)?.[1];
  if (owner !== undefined && owner !== '.bin') return runnerOf(owner, environment) ?? owner;
  const name = basename(script, extname(script));
  if (!sayNothing.test(name)) return name;
  let folder = dirname(script);
  while (layoutFolders.test(basename(folder))) folder = dirname(folder);
  return basename(folder) || name;
}

function runnerOf(
  pool: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const [variable, runner] = runnersOfPools[pool] ?? [];
  return variable !== undefined && environment[variable] !== undefined ? runner : undefined;
}
