/**
 * Loads the preload file for `install()`. It remains a separate file when a bundler has included this package in a program:
 * then it is looked for next to that program, and in the installed package from there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The preload's name for the flag that makes it load without installing. A register.cjs that does not contain it is somebody
 * else's, and is not run.
 */
const mark = 'agentdump.loadOnly';

/** Not imported: webpack resolves calls of an imported createRequire itself, and replaces them with `undefined`. */
const { createRequire } = process.getBuiltinModule('node:module');

/** The exports of the preload file, without installing anything; undefined if there is no such file. */
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
        // It does not exist, or is not readable.
      }
  }
  return undefined;
}

/**
 * Files next to which it may be: this one, the program's and, for a single executable, the executable. Never the working
 * directory, which may belong to somebody else.
 */
function places(): string[] {
  // Bundlers to CommonJS drop import.meta; webpack replaces it with the path of the source on the build machine.
  const own: string | undefined = import.meta.url;
  const here = own?.startsWith('file:') ? [fileURLToPath(own)] : [];
  const [, main] = process.argv;
  const program = main !== undefined && isAbsolute(main) && existsSync(main) ? [main] : [];
  return [...here, ...program, process.execPath];
}
