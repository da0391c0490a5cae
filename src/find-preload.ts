/**
 * Loads the preload file for `install()`. It stays a file of its own when a bundler has made this package part of a
 * program: then it is looked for beside that program, and as the package there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the preload calls the flag by which it only loads: so that nobody else's register.cjs is run. */
const mark = 'agentdump.loadOnly';

/** Not by an import: of that one webpack takes each call for its own to resolve, and leaves `undefined` of it. */
const { createRequire } = process.getBuiltinModule('node:module');

/** The exports of the preload file, of which nothing is installed yet; undefined where there is none. */
export function loadPreload(): unknown {
  const file = findPreload();
  if (file === undefined) return undefined;
  const flags = globalThis as Record<symbol, unknown>;
  const loadOnly = Symbol.for(mark);
  flags[loadOnly] = true;
  try {
    return createRequire(file)(file);
  } finally {
    delete flags[loadOnly];
  }
}

function findPreload(): string | undefined {
  for (const place of places()) {
    const require = createRequire(place);
    for (const name of ['./register.cjs', 'agentdump/register'])
      try {
        const file = require.resolve(name);
        if (file !== place && readFileSync(file, 'latin1').includes(mark)) return file;
      } catch {
        // Not there, or not to be read.
      }
  }
  return undefined;
}

/**
 * Files beside which it may be: this one, the program's and, of a single executable, that. Never the working directory,
 * which may be a stranger's.
 */
function places(): string[] {
  // Bundlers to CommonJS leave no import.meta, webpack the place of the source on the machine that built it.
  const own: string | undefined = import.meta.url;
  const here = own?.startsWith('file:') ? [fileURLToPath(own)] : [];
  const [, main] = process.argv;
  const program = main !== undefined && isAbsolute(main) && existsSync(main) ? [main] : [];
  return [...here, ...program, process.execPath];
}
