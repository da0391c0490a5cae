// Builds the preload: one CommonJS file, three parts of which are text in it until they are needed.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** `plugins` are esbuild's: a test may put a faulty module in the place of one of ours. */
export async function buildPreload(outfile, plugins = []) {
  const preload = {
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    charset: 'ascii',
    legalComments: 'none',
    plugins,
  };
  const textOf = async (half) => {
    const built = await build({ ...preload, entryPoints: [join(root, 'src/capture', half)], write: false });
    return JSON.stringify(built.outputFiles[0].text);
  };
  await build({
    ...preload,
    entryPoints: [join(root, 'src', 'register.ts')],
    outfile,
    define: {
      AGENTDUMP_COLD_HALF: await textOf('cold-half.ts'),
      AGENTDUMP_WATCHDOG_HALF: await textOf('watchdog-half.ts'),
      AGENTDUMP_RECORDING_HALF: await textOf('recording-half.ts'),
      AGENTDUMP_TESTING_HALF: await textOf('testing-half.ts'),
    },
  });
}

/** The second preload, of a program that is run again. */
export async function buildReplayPreload(outfile) {
  await build({
    entryPoints: [join(root, 'src', 'replayed', 'preload.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    legalComments: 'none',
  });
}
